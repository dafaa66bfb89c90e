"""The one error of this package: a sentence that says what is wrong and what to write instead."""

from __future__ import annotations

from forebay.errors import ForebayError


class PlatformError(ForebayError, ValueError):
    """A size, a platform or a snippet that nothing can be made of.

    Attributes
    ----------
    code : str
        Stable name of the kind of mistake, such as ``"unknown-platform"``.
    wrong, hint : str
        What is wrong; what to write instead.
    """

    def __init__(self, code: str, wrong: str, hint: str) -> None:
        self.code, self.wrong, self.hint = code, wrong, hint
        super().__init__(code, wrong, hint)

    def __str__(self) -> str:
        return printable(f"{self.wrong}; {self.hint}")


def printable(text: str) -> str:
    """Return text in one line, control characters spelt out: snippets come from anywhere."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def short(text: str, most: int = 80) -> str:
    """Return printable text of at most ``most`` characters."""
    shown = printable(text[: most + 1])
    return shown if len(shown) <= most else shown[: most - 1] + "…"
