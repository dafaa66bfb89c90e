"""The one error of this package: a sentence that says what, where and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from forebay.errors import ForebayError, Words, current_words, literal

_SHOWN = 60


class ScenarioError(ForebayError, ValueError):
    """Input that cannot be a scenario.

    Attributes
    ----------
    code : str
        Stable name of the kind of mistake, such as ``"unknown-key"``.
    file, field : str
        Where: the file, ``--set`` or the class; the dotted path inside it. Either may be empty.
    value : object
        What was found there.
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

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.code, self.wrong, self.hint), self.__dict__)

    def at(self, file: str, field: str = "") -> ScenarioError:
        """Return the same complaint with the place filled in, ``field`` put before its own."""
        path = ".".join(part for part in (field, self.field) if part)
        return ScenarioError(
            self.code, self.wrong, self.hint, file=file, field=path, value=self.value
        )


def show(value: object) -> str:
    """Return a value as a person wrote it, in at most about 60 characters."""
    if isinstance(value, str):
        return f'"{_short(str(value))}"'
    if isinstance(value, bool):
        return literal(value)
    if isinstance(value, dict):
        return "a dict" if current_words() is Words.PYTHON else "a table"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int) and value.bit_length() > 128:
        return "a huge number"  # turning it into digits can be refused by Python itself
    return _short(str(value))


def one_of(names: Iterable[str]) -> str:
    """Return ``"a", "b" or "c"``."""
    *most, last = [f'"{name}"' for name in names]
    return f"{', '.join(most)} or {last}" if most else last


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name that ``name`` was probably meant to be, whatever its case and its dashes."""
    import difflib

    by_folded = {_folded(known): known for known in names}
    found = difflib.get_close_matches(_folded(name), by_folded, n=1, cutoff=0.5)
    return by_folded[found[0]] if found else None


def did_you_mean(name: str, names: Iterable[str], *, also: Mapping[str, str] | None = None) -> str:
    """Return ' (did you mean "fq_codel"?)', "" where no name is near.

    ``also`` has names that others use for the same, such as pfifo for drop-tail.
    """
    guess = (also or {}).get(_folded(name)) or nearest(name, names)
    return f' (did you mean "{guess}"?)' if guess and guess != name else ""


def _folded(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "").replace(" ", "")


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
