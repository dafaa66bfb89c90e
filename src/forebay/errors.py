"""The base class of all errors for users, and the wording of their hints.

The same mistake can be made in Python, in a TOML file or on the command line, and a hint uses the
notation of that place. What differs stands in an error's text as a mark with all three; who prints
the error says which of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum


class Words(Enum):
    """The place where a user follows a hint."""

    PYTHON = "Python code"
    FILE = "a TOML file"
    COMMAND_LINE = "the command line, and the TOML of --set"


_BEGIN, _OR, _END = "\ue000", "\ue001", "\ue002"
_TEXT = f"([^{_BEGIN}-{_END}]*)"
_MARK = re.compile(f"{_BEGIN}{_TEXT}{_OR}{_TEXT}{_OR}{_TEXT}{_END}")


def _mark(write: Callable[[Words], str]) -> str:
    return _BEGIN + _OR.join(one_line(write(words)) for words in Words) + _END


def worded(text: str, words: Words) -> str:
    """Return a text with its marks in the notation of a place."""
    return _MARK.sub(rf"\{1 + list(Words).index(words)}", text)


def one_line(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class InWords:
    """An error's attribute, which is read in the notation of the place where it is followed."""

    def __set_name__(self, owner: type[ForebayError], name: str) -> None:
        self._kept = f"_{name}"

    def __set__(self, error: ForebayError, text: str) -> None:
        setattr(error, self._kept, text)

    def __get__(self, error: ForebayError | None, owner: type[ForebayError] | None = None) -> str:
        return "" if error is None else worded(getattr(error, self._kept, ""), error.words)


class ForebayError(Exception):
    """Base class of all errors for users; the text is one line.

    Attributes
    ----------
    code : str
        Stable name of the kind of mistake, such as ``"unknown-key"``.
    hint : str
        What to write or do instead.
    exit_status : int
        Exit status of the command line: 2 bad input, 3 an engine cannot run here, 4 a defect.
    words : Words
        The place where the hint is followed: ``str()`` has its notation.

    >>> try:
    ...     forebay.Link(rate=155)
    ... except forebay.ForebayError as error:
    ...     print(error.code, error.exit_status)
    no-unit 2
    """

    code: str = "error"
    hint: str | InWords = InWords()
    exit_status: int = 2
    words: Words = Words.PYTHON
    _hint: str

    def worded(self, words: Words) -> str:
        """Return the line in the notation of a place."""
        return one_line(worded(self._line(), words))

    def marked(self, name: str) -> str:
        """Return an attribute with the marks of its words, for the text of another error."""
        return str(getattr(self, f"_{name}", getattr(self, name)))

    def _line(self) -> str:
        return super().__str__()

    def __str__(self) -> str:
        return self.worded(self.words)

    def __reduce__(self) -> tuple[object, ...]:
        # Restored without __init__, whose parameters are not what the exception keeps in `args`.
        return (_restored, (type(self), self.args, self.__dict__))


def _restored(
    kind: type[ForebayError], args: tuple[object, ...], state: dict[str, object]
) -> ForebayError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class Defect(ForebayError):
    """Something that Forebay did not foresee: an error of its own, worth a report.

    Attributes
    ----------
    what : str
        The exception, in one line.
    """

    code = "defect"
    exit_status = 4
    hint = (
        "please report it with the command and its files; FOREBAY_DEBUG=1 in the environment shows "
        "where it happened"
    )

    def __init__(self, what: str) -> None:
        self.what = " ".join(what.split())[:300]
        super().__init__(f"a defect of forebay: {self.what}; {self.hint}")


@contextmanager
def panics_as_defects() -> Iterator[None]:
    """Turn a panic of the compiled core, which is no Exception, into a Defect."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise Defect(f"a panic of the core: {error}") from error


@contextmanager
def written_in(place: Words) -> Iterator[None]:
    """Say of an error from inside where its hint is followed."""
    try:
        yield
    except ForebayError as error:
        error.words = place
        raise


def option(name: str, value: object) -> str:
    """Return 'engine="theory"', for the command line "--engine theory", as an `entry` of a file."""

    def write(words: Words) -> str:
        if words is Words.COMMAND_LINE:
            given = _literal(value, words) if " " in str(value) else value
            return f"--{name.replace('_', '-')} {given}"
        return _entry(name, value, words)

    return _mark(write)


def argument(name: str, option: str = "") -> str:
    """Return the name of an argument: "memory_limit", for the command line "--memory-limit".

    ``option`` is the command line's name, if it differs.
    """
    return either(name, name, f"--{(option or name).replace('_', '-')}")


def setting(path: str, value: object) -> str:
    """Return 'scenario.replace({"queue.size": "1 bdp"})', or '--set queue.size="1 bdp"'.

    Of a file, and on the page, it is 'queue.size = "1 bdp"'.
    """
    written = toml(value)
    python = f"scenario.replace({_literal({path: value}, Words.PYTHON)})"
    return either(python, f"{path} = {written}", f"--set {path}={written}")


def entry(name: str, value: object) -> str:
    """Return 'size="1 bdp"', for a file 'size = "1 bdp"'."""
    return _mark(lambda words: _entry(name, value, words))


def literal(value: object) -> str:
    """Return a value in the notation of Python or TOML."""
    return _mark(lambda words: _literal(value, words))


def either(python: str, file: str, command_line: str | None = None) -> str:
    """Return what Python code, a file and, if it differs from that, the command line call it."""
    said = (python, file, file if command_line is None else command_line)
    return _mark(dict(zip(Words, said, strict=True)).__getitem__)


def toml(value: object) -> str:
    """Return a value in the notation of TOML."""
    return _literal(value, Words.FILE)


def _entry(name: str, value: object, words: Words) -> str:
    equals = "=" if words is Words.PYTHON else " = "
    return f"{name}{equals}{_literal(value, words)}"


def _literal(value: object, words: Words) -> str:
    python = words is Words.PYTHON
    if isinstance(value, bool):
        return str(value) if python else str(value).lower()
    if isinstance(value, Mapping):
        if python:
            return "{" + ", ".join(f'"{k}": {_literal(v, words)}' for k, v in value.items()) + "}"
        return "{ " + ", ".join(f"{k} = {_literal(v, words)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_literal(part, words) for part in value) + "]"
    return str(value) if isinstance(value, int | float) else f'"{value}"'
