"""The base class of all tables of a scenario."""

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self, SupportsIndex, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    SerializationInfo,
    ValidationError,
    ValidationInfo,
)
from pydantic_core import CoreSchema, core_schema

from forebay.scenario.errors import ScenarioError, fraction_of_percent
from forebay.scenario.quantity import Duration, Quantity, Rate
from forebay.words import Fact, Term, show

T = TypeVar("T")


def whole_number(
    argument: str | Term, value: SupportsIndex, least: int, most: int, more: str | Fact = ""
) -> int:
    """Return an argument if it is a whole number in the range. Raises ScenarioError.

    ``more`` is appended to the hint.
    """
    try:
        number = index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool):  # which Python takes for 0 or 1
        number = least - 1
    if least <= number <= most:
        return number
    raise ScenarioError(
        "out-of-range.whole-number", field=argument, value=value, least=least, most=most, more=more
    )


def listed(argument: str | Term, values: Iterable[T]) -> list[T]:
    """Return an argument as a list; a text and a table are none. Raises ScenarioError."""
    if isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping | BaseModel):
        return list(values)
    kind = "wrong-type.list" if isinstance(values, str | int | float) else "wrong-type.not-listed"
    raise ScenarioError(kind, field=argument, value=values)


@dataclass(frozen=True, slots=True)
class Between:
    """A range, including its ends. A distribution must lie completely in it; None is accepted."""

    least: Any
    most: Any
    unit: str = ""
    above: bool = False
    """Whether ``least`` itself is excluded."""

    def check(self, value: Any) -> Any:
        """Return ``value``, or raise ScenarioError."""
        if value is not None:
            for number in (getattr(value, "low", value), getattr(value, "high", value)):
                self._check_number(number)
        return value

    def _check_number(self, number: Any) -> None:
        if self.least <= number <= self.most and not (self.above and number == self.least):
            return
        kind = "out-of-range.not-above" if number == self.least else "out-of-range.not-in"
        if number < self.least:
            kind = "out-of-range.below"
        if number > self.most:
            kind = "out-of-range.above"
        shown = f"{number}" if isinstance(number, Quantity) else show(number)
        shown = str(number) if shown in (f"{self.least}", f"{self.most}") else shown
        share = fraction_of_percent(number) if self.unit == "fraction" else None
        meant = Fact("out-of-range.percent", number=number, share=share) if share else ""
        raise ScenarioError(kind, value=number, shown=shown, limits=self, meant=meant)

    @property
    def range(self) -> Fact:
        """What may be written."""
        return Fact("range.above" if self.above else "range.closed", limits=self)

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        written = handler(schema)
        if isinstance(self.least, Quantity):
            return written | {"x-minimum": str(self.least), "x-maximum": str(self.most)}
        least = "exclusiveMinimum" if self.above else "minimum"
        return written | {least: self.least, "maximum": self.most}


SHARE = Between(0, 1, "fraction", above=True)
"""Range of a share or a probability that cannot be 0."""


def printable(text: str) -> str:
    """Return a name that is safe in terminals and XML files, or raise ScenarioError."""
    if text.isprintable():
        return text
    raise ScenarioError("out-of-range.unprintable", value=text)


RATES = Between(Rate(1e3), Rate(1e13))
MAX_FLOWS = 10_000_000
MAX_OFFERED = 500_000_000
"""Maximum number of flows that start, and of datagrams, in one run. A scenario may have more: laws
need no run, and a sizing may simulate a smaller link instead."""
MAX_PACKETS = 20_000_000
"""Maximum number of packets of open-loop sources in one run; each is stored in memory."""
MAX_PERIODS = 20_000_000
"""Maximum number of on times in one run; drawing each takes about 100 ns."""
DAY = Duration(86_400)
FOLDER = "folder"
"""Key of the validation context: the folder of relative paths."""
FILES = "files"
"""Key of the validation context: whether a path is opened."""

_MOST_BYTES = 256 * 1024 * 1024


def _listed(value: object) -> object:
    if isinstance(value, BaseModel):  # pydantic would iterate over its fields
        raise ScenarioError("wrong-type.table-for-list", value=value, name=type(value).__name__)
    return value


LISTED = BeforeValidator(_listed)
"""Validator of a field with a list of tables."""


def such_as(*examples: Any) -> Any:
    """Make a field that is None where it is not set, with examples for the hints of errors."""
    return Field(default=None, examples=list(examples))


def shorthand(field: str, alone: Any, schema: Any, kind: str = "wrong-type") -> BeforeValidator:
    """Make the validator of a field with a table, of which one value may stand alone.

    Parameters
    ----------
    field : the table's field that such a value is.
    alone : its types.
    schema : the type of all that may be written.
    kind : of the error about any other value.
    """

    def read(data: Any) -> Any:
        if data is None or isinstance(data, Mapping | BaseModel):
            return data
        if alone is object or (isinstance(data, alone) and not isinstance(data, bool)):
            return {field: data}
        raise ScenarioError(kind, value=data)

    return BeforeValidator(read, json_schema_input_type=schema)


class ScenarioModel(BaseModel):
    """A frozen table of a scenario: made with keywords, or validated from a file's dict."""

    # Validators are built at first use; base classes and unused kinds never need theirs.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    example: ClassVar[dict[str, Any]] = {}
    """Example for the error of an unknown key in a small table."""

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**without_numpy(fields))
        except ValidationError as error:
            problem = format_validation_error(error, type(self))
        else:
            return
        raise problem

    # Marks this as pydantic's own __init__, so that nested dicts do not call it.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def __setattr__(self, name: str, value: Any = None) -> NoReturn:
        raise ScenarioError("frozen", file=type(self).__name__, field=name)

    __delattr__ = __setattr__

    @classmethod
    def from_dict(cls, data: Any, *, files: bool = True) -> Self:
        """Return the table of a dict with a file's structure. Raises ScenarioError.

        Without ``files`` a path in it is refused, and no file is opened.
        """
        try:
            return cls.model_validate(without_numpy(data), context={FILES: files})
        except ValidationError as error:
            problem = format_validation_error(error, cls)
        raise problem

    def __repr__(self) -> str:
        written = self.model_dump(mode="json", exclude_defaults=True)
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in written.items())})"

    __str__ = __repr__


def without_numpy(value: Any) -> Any:
    """Return a value with NumPy's scalars and arrays converted to Python's."""
    if isinstance(value, dict):
        return {name: without_numpy(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(without_numpy, value)) if type(value) in (list, tuple) else value
    # A scalar is one number, an array a list of them.
    return value.tolist() if type(value).__module__ == "numpy" else value


def format_validation_error(error: ValidationError, model: type[ScenarioModel]) -> ScenarioError:
    """Return the first error in our words; a scenario's field needs no class name before it."""
    from forebay.scenario.format_error import format_error

    name = "" if model.__name__ == "Scenario" else model.__name__
    return format_error(error, model).at(name)


class GivenHere(str):
    """A path that starts at the current folder, not at that of the scenario's file."""

    __slots__ = ()


class FromFile(ABC):
    """A file's content, read once. `path` is relative to the current folder, or absolute."""

    __slots__ = ()
    file_kind: ClassVar[str]
    """Kind of the file with its article, for the hints of errors."""
    content_kind: ClassVar[str]
    path: str
    digest: str

    @classmethod
    @abstractmethod
    def of(cls, path: str, content: bytes) -> Self:
        """Return the value of a file's content. Raises ScenarioError."""

    def canonical(self) -> dict[str, str]:
        """Return the file's content, independent of its path."""
        return {self.content_kind: self.digest}

    @classmethod
    def read(cls, path: str) -> Self:
        """Read a regular file only, because opening a pipe or a device could block.

        Raises ScenarioError.
        """
        what = cls.file_kind
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise ScenarioError("file-unreadable.special", value=path, what=what)
            with Path(path).open("rb") as file:
                content = file.read(_MOST_BYTES + 1)
        except (OSError, ValueError) as error:
            if isinstance(error, ScenarioError):
                raise
            why = getattr(error, "strerror", None) or str(error)
            raise ScenarioError("file-unreadable.why", value=path, why=why, what=what) from None
        if len(content) > _MOST_BYTES:
            raise ScenarioError("file-too-large.beside", value=path)
        return cls.of(path, content)

    @classmethod
    def parse(cls, value: object, info: ValidationInfo) -> Self:
        """Read the file at a path, or return the value if it is one. Raises ScenarioError."""
        if isinstance(value, cls):
            return value
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        if not isinstance(value, str) or not value:
            raise ScenarioError("wrong-type.path-of", value=value, what=cls.file_kind)
        if not (info.context or {}).get(FILES, True):
            raise ScenarioError("file-refused", value=value)
        if isinstance(value, GivenHere):
            return cls.read(os.path.abspath(value))
        return cls.read(os.path.join((info.context or {}).get(FOLDER, ""), value))

    def _written(self, info: SerializationInfo) -> Any:
        """Return the path relative to the context's folder, or the content's digest."""
        if info.mode != "json":
            return self.canonical()
        folder = (info.context or {}).get(FOLDER)
        if folder is None or os.path.isabs(self.path):
            return self.path
        return os.path.relpath(self.path, folder)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(
            cls.parse,
            serialization=core_schema.plain_serializer_function_ser_schema(
                cls._written, info_arg=True
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "string", "minLength": 1}
