"""The error of this package: one sentence with what is wrong, where, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from forebay.errors import ForebayError, Words, current_words, literal

_SHOWN = 60


class ScenarioError(ForebayError, ValueError):
    """Invalid input for a scenario.

    Attributes
    ----------
    code : str
        Stable name of the kind of mistake, such as ``"unknown-key"``.
    file, field : str
        The place: the file, ``--set`` or the class; the dotted path inside it. Either may be empty.
    value : object
        The value found there.
    wrong, hint : str
        What is wrong with it; what to write instead.
    """

    def __init__(
        self,
        code: str,
        wrong: str,
        hint: str,
        *,
        file: str = "",
        field: str = "",
        value: object = None,
    ) -> None:
        self.code, self.wrong, self.hint = code, wrong, hint
        self.file, self.field, self.value = file, field, value
        super().__init__(code, wrong, hint)

    def __str__(self) -> str:
        where = "".join(f"{part}: " for part in (self.file, self.field) if part)
        return _one_line(f"{where}{self.wrong}; {self.hint}")

    def at(self, file: str, field: str = "") -> ScenarioError:
        """Return the same error with the place set, and ``field`` put before its own field."""
        path = ".".join(part for part in (field, self.field) if part)
        return ScenarioError(
            self.code, self.wrong, self.hint, file=file, field=path, value=self.value
        )


def show(value: object) -> str:
    """Return a value in the user's notation, in at most about 60 characters."""
    if isinstance(value, str):
        return f'"{_short(str(value))}"'
    if isinstance(value, bool):
        return literal(value)
    if isinstance(value, dict):
        return "a dict" if current_words() is Words.PYTHON else "a table"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int) and value.bit_length() > 128:
        return "a huge number"  # Python may refuse to convert it to digits
    return _short(str(value))


def one_of(names: Iterable[str]) -> str:
    """Return ``"a", "b" or "c"``."""
    *most, last = [f'"{name}"' for name in names]
    return f"{', '.join(most)} or {last}" if most else last


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name most similar to ``name``, ignoring case and dashes."""
    import difflib

    by_folded = {_folded(known): known for known in names}
    found = difflib.get_close_matches(_folded(name), by_folded, n=1, cutoff=0.5)
    return by_folded[found[0]] if found else None


def did_you_mean(name: str, names: Iterable[str], *, also: Mapping[str, str] | None = None) -> str:
    """Return ' (did you mean "fq_codel"?)', or "" without a similar name.

    ``also`` has other names of the same thing, such as pfifo for drop-tail.
    """
    guess = (also or {}).get(_folded(name)) or nearest(name, names)
    return f' (did you mean "{guess}"?)' if guess and guess != name else ""


def _folded(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "").replace(" ", "")


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
