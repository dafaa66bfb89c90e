"""The error of this package: one sentence with the mistake and what to write instead."""

from __future__ import annotations

from forebay.errors import ForebayError


class PlatformError(ForebayError, ValueError):
    """An invalid size, platform or snippet.

    Attributes
    ----------
    code : stable name of the kind of mistake, such as ``"unknown-platform"``.
    wrong, hint : what is wrong; what to write instead.
    """

    def __init__(self, code: str, wrong: str, hint: str) -> None:
        self.code, self.wrong, self.hint = code, wrong, hint
        super().__init__(f"{wrong}; {hint}")


class NotRecommended(PlatformError):
    """The evidence of a sizing does not decide which size to configure."""

    exit_status = 3


def printable(text: str) -> str:
    """Return text in one line with control characters escaped, because snippets are untrusted."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def short(text: str, most: int = 80) -> str:
    """Return printable text of at most ``most`` characters."""
    shown = printable(text[: most + 1])
    return shown if len(shown) <= most else shown[: most - 1] + "…"
