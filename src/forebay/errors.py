"""The base class of all errors for users."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self, TypeVar

from forebay.words import Fact, Notation, Term, Told, one_line, worded


class Worded:
    """An error's attribute, which is read in the notation of the place where it is followed."""

    def __set_name__(self, owner: type[ForebayError], name: str) -> None:
        self._name = name

    def __set__(self, error: ForebayError, part: Told) -> None:
        error.parts[self._name] = part

    def __get__(self, error: ForebayError | None, owner: type[ForebayError] | None = None) -> str:
        return "" if error is None else worded(error.parts.get(self._name, ""), error.notation)


class ForebayError(Exception):
    """Base class of all errors for users; the text is one line.

    Attributes
    ----------
    code : str
        Stable name of the kind of mistake, such as ``"unknown-key"``.
    file, field : str
        The place: the file, ``--set`` or the class; the dotted path inside it. Either may be empty.
    value : object
        What was found there.
    wrong, hint : str
        What is wrong with it; what to write or do instead.
    exit_status : int
        Exit status of the command line: 2 bad input, 3 an engine cannot run here, 4 a defect.
    notation : Notation
        The place where the hint is followed: ``str()`` has its notation.

    Parameters
    ----------
    kind : of the fact, `code` and what tells it from others, such as ``"unknown-key.table"``. A
        text that no table of `forebay.words` has is the line itself.
    wrong, hint : in place of what the table has.
    values : what the sentence names.

    >>> try:
    ...     forebay.Link(rate=155)
    ... except forebay.ForebayError as error:
    ...     print(error.code, error.exit_status)
    no-unit 2
    """

    code: str = "error"
    exit_status: int = 2
    notation: Notation = Notation.PYTHON
    file, field, wrong, hint = Worded(), Worded(), Worded(), Worded()

    def __init__(
        self,
        kind: str,
        wrong: Told = "",
        hint: Told = "",
        *,
        file: str | Term = "",
        field: str | Term = "",
        value: object = None,
        **values: object,
    ) -> None:
        fact = Fact(kind, value=value, **values)
        self.parts: dict[str, Told] = {
            "file": file, "field": field, "wrong": wrong or fact, "hint": hint,
        }  # fmt: skip
        if " " not in kind:
            self.code = kind.partition(".")[0]
            self.parts["hint"] = hint or fact.hint
        self.value = value
        super().__init__(kind)

    def worded(self, notation: Notation) -> str:
        """Return the line in a notation."""
        file, field, wrong, hint = (
            worded(self.parts[name], notation) for name in ("file", "field", "wrong", "hint")
        )
        where = "".join(f"{part}: " for part in (file, field) if part)
        return one_line(f"{where}{wrong}; {hint}" if hint else f"{where}{wrong}")

    def __str__(self) -> str:
        return self.worded(self.notation)

    def at(self, file: str | Term, field: str | Term = "") -> Self:
        """Return the same error with the place set, and ``field`` put before its own field."""
        own = self.parts["field"]
        path = Term("path", field, own) if field and own else field or own
        return self.but(file=file, field=path)

    def but(self, code: str = "", **parts: Told) -> Self:
        """Return the same error with another code, wrong, hint, file or field."""
        copy: Self = _restored(type(self), self.args, self.__dict__)
        copy.code, copy.parts = code or self.code, self.parts | parts
        return copy

    def __reduce__(self) -> tuple[object, ...]:
        # Restored without __init__, whose parameters are not what the exception keeps in `args`.
        return (_restored, (type(self), self.args, self.__dict__))


def _restored(kind: type[_E], args: tuple[object, ...], state: dict[str, object]) -> _E:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


_E = TypeVar("_E", bound=ForebayError)


class Defect(ForebayError):
    """Something that Forebay did not foresee: an error of its own, worth a report.

    Attributes
    ----------
    what : str
        The exception, in one line.
    """

    exit_status = 4

    def __init__(self, what: str) -> None:
        self.what = " ".join(what.split())[:300]
        super().__init__("defect", what=self.what)


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
def written_in(notation: Notation) -> Iterator[None]:
    """Say of an error from inside where its hint is followed."""
    try:
        yield
    except ForebayError as error:
        error.notation = notation
        raise
