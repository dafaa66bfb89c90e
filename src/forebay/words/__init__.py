"""What users are told: facts, and the one place where they become sentences.

Code that finds something out makes a `Fact`, of a kind and with its values. The TOML files here
have the sentence of each kind; who prints a fact says in whose notation, because the same mistake
can be made in Python, in a TOML file or on the command line.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

_SHOWN, _LARGEST_SAID = 60, 1e15
_HINT = ".hint"


class Notation(Enum):
    """The place where a user follows a hint."""

    PYTHON = "Python code"
    FILE = "a TOML file"
    COMMAND_LINE = "the command line, and the TOML of --set"


class Fact:
    """What a user is told: its kind, and the values that its sentence names.

    Kinds and sentences stand in the TOML files of `forebay.words`: a sentence, or of an error what
    is wrong and what to write instead. A kind that no file has is its own sentence. In a sentence

    ``{name}`` is a value, in which another fact or a `Term` is worded too;
    ``{name!r}`` the value as the user wrote it, short and printable; ``{name!l}`` as to be written;
    ``{name:one|# many}`` depends on whether the number is 1, and ``#`` is the number;
    ``{option:engine=theory}`` a `Term`: also argument, entry, setting, either;
    ``{literal:{{ log = [1, 9] }}}`` a value in TOML, as Python writes it too.

    >>> str(Fact("2 of 3"))
    '2 of 3'
    """

    __slots__ = ("kind", "values")

    def __init__(self, kind: str, /, **values: object) -> None:
        self.kind, self.values = kind, values

    @property
    def hint(self) -> Fact:
        """What to write or do instead, of an error."""
        return Fact(f"{self.kind}{_HINT}", **self.values)

    def text(self, notation: Notation = Notation.FILE) -> str:
        """Return the sentence; of an error, what is wrong."""
        said = sentence(self.kind)
        if said is None:
            is_hint = self.kind.endswith(_HINT) and " " not in self.kind
            return "" if is_hint else self.kind
        return _Wording(notation).vformat(said, (), self.values)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Fact({self.kind!r}, {self.values!r})"

    def __eq__(self, other: object) -> bool:
        return repr(self) == repr(other) if isinstance(other, Fact) else NotImplemented

    def __hash__(self) -> int:
        return hash(repr(self))


class Term:
    """A value that Python, a file and the command line write differently."""

    __slots__ = ("form", "parts")

    def __init__(self, form: str, *parts: Any) -> None:
        self.form, self.parts = form, parts

    def text(self, notation: Notation = Notation.FILE) -> str:
        """Return it in a notation."""
        return one_line(_FORMS[self.form](notation, *self.parts))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"{self.form}{self.parts!r}"


Told = str | Fact | Term
"""A part of what is told; a text is told as it is."""


def sentence(kind: str) -> str | None:
    """Return the sentence of a kind, with the names of its values; None if no table has it."""
    return next((told[kind] for told in map(table, TABLES) if kind in told), None)


# Read at once, because an error may be that no file can be opened; parsed when one is needed.
_FOLDER = Path(__file__).parent
TABLES = tuple(
    (_FOLDER / name).read_text("utf-8")
    for name in sorted(os.listdir(_FOLDER)) if name.endswith(".toml")
)  # fmt: skip
"""The texts of the files of sentences, that of answers first."""


@cache
def table(text: str) -> Mapping[str, str]:
    """Return a file's sentences by kind."""
    return dict(_kinds("", _read(text)))


def _read(text: str) -> dict[str, Any]:
    import tomllib  # what prints no sentence starts without it

    return tomllib.loads(text)


def _kinds(above: str, table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each kind and its sentence; what is wrong is that of the table itself."""
    for name, said in table.items():
        kind = above if name == "wrong" else f"{above}.{name}".lstrip(".")
        if isinstance(said, str):
            yield kind, said
        else:
            yield from _kinds(kind, said)


def worded(part: Told, notation: Notation) -> str:
    """Return a part of what is told in a notation."""
    return part if isinstance(part, str) else part.text(notation)


class _Form(str):
    """The name of a form in a sentence."""

    __slots__ = ()


class _Wording(Formatter):
    def __init__(self, notation: Notation) -> None:
        self._notation = notation

    def get_value(self, key: int | str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        if key in kwargs:
            return kwargs[str(key)]
        if key in _FORMS:
            return _Form(key)
        raise KeyError(key)

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion == "r":
            return show(value, self._notation)
        if conversion == "l":
            return literal(value, self._notation)
        return super().convert_field(value, conversion)

    def format_field(self, value: Any, spec: str) -> Any:
        if isinstance(value, _Form):
            return _term(value, spec).text(self._notation)
        if isinstance(value, Fact | Term):
            value = value.text(self._notation)
        if "|" in spec:  # also of numbers and truths of NumPy
            one, many = spec.split("|")
            return (one if value == 1 else many).replace("#", str(value))
        return format_number(value, spec)


def _term(form: str, spec: str) -> Term:
    """Return the term of "engine=simulation", or of either's "a dict|a table"."""
    if form in ("argument", "either"):
        return Term(form, *spec.split("|"))
    if form == "literal":
        return Term(form, _read(f"value = {spec}")["value"])
    name, _, value = spec.partition("=")
    try:
        return Term(form, name, _read(f"value = {value}")["value"])
    except ValueError:
        return Term(form, name, value)


def option(name: str, value: object) -> Term:
    """Return 'engine="theory"', for the command line "--engine theory", as an `entry` of a file."""
    return Term("option", name, value)


def argument(name: str, option: str = "") -> Term:
    """Return the name of an argument: "memory_limit", for the command line "--memory-limit".

    ``option`` is the command line's name, if it differs.
    """
    return Term("argument", name, option)


def setting(path: str, value: object) -> Term:
    """Return 'scenario.replace({"queue.size": "1 bdp"})', or '--set queue.size="1 bdp"'.

    Of a file, and on the page, it is 'queue.size = "1 bdp"'.
    """
    return Term("setting", path, value)


def entry(name: str, value: object) -> Term:
    """Return 'size="1 bdp"', for a file 'size = "1 bdp"'."""
    return Term("entry", name, value)


def either(python: str, file: str, command_line: str | None = None) -> Term:
    """Return what Python code, a file and, if it differs from that, the command line call it."""
    return Term("either", python, file, *(() if command_line is None else (command_line,)))


def _option(notation: Notation, name: str, value: object) -> str:
    if notation is not Notation.COMMAND_LINE:
        return _entry(notation, name, value)
    given = literal(value, notation) if " " in str(value) else value
    return f"--{name.replace('_', '-')} {given}"


def _argument(notation: Notation, name: str, option: str = "") -> str:
    if notation is not Notation.COMMAND_LINE:
        return name
    return f"--{(option or name).replace('_', '-')}"


def _setting(notation: Notation, path: str, value: object) -> str:
    if notation is Notation.PYTHON:
        return f"scenario.replace({literal({path: value}, notation)})"
    if notation is Notation.FILE:
        return f"{path} = {toml(value)}"
    return f"--set {path}={toml(value)}"


def _entry(notation: Notation, name: str, value: object) -> str:
    equals = "=" if notation is Notation.PYTHON else " = "
    return f"{name}{equals}{literal(value, notation)}"


def _either(notation: Notation, python: str, file: str, command_line: str | None = None) -> str:
    if notation is Notation.PYTHON:
        return python
    return file if notation is Notation.FILE or command_line is None else command_line


def _path(notation: Notation, *parts: str | Term) -> str:
    return ".".join(worded(part, notation) for part in parts)


_FORMS: dict[str, Callable[..., str]] = {
    "option": _option, "argument": _argument, "setting": _setting, "entry": _entry,
    "either": _either, "path": _path, "literal": lambda notation, value: literal(value, notation),
}  # fmt: skip


def format_number(value: Any, spec: str) -> str:
    """Format a value; a number by ``".3g"`` without an exponent up to 1e15, a share with a space.

    >>> format_number(12000.0, ".3g"), format_number(1.5, ".3g"), format_number(0.5, ".0%")
    ('12000', '1.5', '50 %')
    """
    said = format(value, spec)
    if spec.endswith("%"):
        return f"{said[:-1]} %"
    is_long = spec.endswith("g") and "e+" in said
    return f"{value:.0f}" if is_long and abs(value) < _LARGEST_SAID else said


def toml(value: object) -> str:
    """Return a value in the notation of TOML."""
    return literal(value, Notation.FILE)


def literal(value: object, notation: Notation) -> str:
    """Return a value in the notation of Python or TOML."""
    python = notation is Notation.PYTHON
    if isinstance(value, bool):
        return str(value) if python else str(value).lower()
    if isinstance(value, Mapping):
        if python:
            return "{" + ", ".join(f'"{k}": {literal(v, notation)}' for k, v in value.items()) + "}"
        return (
            "{ " + ", ".join(f"{_key(k)} = {literal(v, notation)}" for k, v in value.items()) + " }"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(literal(part, notation) for part in value) + "]"
    return str(value) if isinstance(value, int | float) else f'"{value}"'


def _key(name: object) -> str:
    """Return a key of TOML, in quotes unless it is surely a bare one."""
    bare = str(name).replace("-", "_")
    return str(name) if bare.isascii() and bare.isidentifier() else f'"{name}"'


def show(value: object, notation: Notation = Notation.FILE) -> str:
    """Return a value as the user wrote it, in at most about 60 characters."""
    if isinstance(value, str):
        return f'"{one_line(_short(str(value)))}"'
    if isinstance(value, bool):
        return literal(value, notation)
    if isinstance(value, dict):
        return "a dict" if notation is Notation.PYTHON else "a table"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int) and value.bit_length() > 128:
        return "a huge number"  # Python may refuse to convert it to digits
    return _short(str(value))


def one_of(names: Iterable[str]) -> str:
    """Return ``"a", "b" or "c"``."""
    *most, last = [f'"{name}"' for name in names]
    return f"{', '.join(most)} or {last}" if most else last


def one_line(text: str) -> str:
    """Return a text without line breaks and other signs that cannot be printed."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
