"""The base class of all errors for users, and the wording of their hints.

The same mistake can be made in Python, in a TOML file or on the command line. The hint uses the
notation of that place, which is chosen when the error is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum


class Words(Enum):
    """The place where a user follows a hint."""

    PYTHON = "Python code"
    FILE = "a TOML file"
    COMMAND_LINE = "the command line, and the TOML of --set"


_words = ContextVar("_words", default=Words.PYTHON)


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
    """

    code: str = "error"
    hint: str = ""
    exit_status: int = 2

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
def words(chosen: Words, *, exactly: bool = False) -> Iterator[None]:
    """Use this notation for hints of errors inside; the command line keeps its own.

    With ``exactly`` it does not: what is said belongs into the file, as a budget into a grid.
    """
    if _words.get() is Words.COMMAND_LINE and chosen is Words.FILE and not exactly:
        chosen = Words.COMMAND_LINE
    token = _words.set(chosen)
    try:
        yield
    finally:
        _words.reset(token)


def current_words() -> Words:
    """Return the current notation of hints."""
    return _words.get()


def option(name: str, value: object) -> str:
    """Return 'engine="theory"', for the command line "--engine theory", as an `entry` of a file."""
    if _words.get() is Words.COMMAND_LINE:
        return f"{argument(name)} {literal(value) if ' ' in str(value) else value}"
    return entry(name, value)


def argument(name: str, option: str = "") -> str:
    """Return the name of an argument: "memory_limit", for the command line "--memory-limit".

    ``option`` is the command line's name, if it differs.
    """
    if _words.get() is Words.COMMAND_LINE:
        return f"--{(option or name).replace('_', '-')}"
    return name


def setting(path: str, value: object) -> str:
    """Return 'scenario.replace({"queue.size": "1 bdp"})', or '--set queue.size="1 bdp"'.

    Of a file, and on the page, it is 'queue.size = "1 bdp"'.
    """
    if _words.get() is Words.PYTHON:
        return f"scenario.replace({literal({path: value})})"
    if _words.get() is Words.FILE:
        return f"{path} = {literal(value)}"
    return f"--set {path}={literal(value)}"


def entry(name: str, value: object) -> str:
    """Return 'size="1 bdp"', for a file 'size = "1 bdp"'."""
    equals = "=" if _words.get() is Words.PYTHON else " = "
    return f"{name}{equals}{literal(value)}"


def literal(value: object) -> str:
    """Return a value in the notation of Python or TOML."""
    python = _words.get() is Words.PYTHON
    if isinstance(value, bool):
        return str(value) if python else str(value).lower()
    if isinstance(value, Mapping):
        if python:
            return "{" + ", ".join(f'"{k}": {literal(v)}' for k, v in value.items()) + "}"
        return "{ " + ", ".join(f"{k} = {literal(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(literal, value)) + "]"
    return str(value) if isinstance(value, int | float) else f'"{value}"'
