"""The base class of all tables of a scenario."""

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self, SupportsIndex

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

from forebay.scenario.errors import ScenarioError, fraction_of_percent, show
from forebay.scenario.quantity import Duration, Quantity, Rate
from forebay.words import Fact


def whole_number(
    argument: str, value: SupportsIndex, least: int, most: int, more: str | Fact = ""
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
    hint = f"write a whole number from {least} to {most}{more}"
    raise ScenarioError("out-of-range", show(value), hint, field=argument, value=value)


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
        side = "below" if number < self.least else "above" if number > self.most else "not in"
        limit = f"the least, {self.least}" if side == "below" else f"the most, {self.most}"
        side = "not above" if self.above and number == self.least else side
        limit = str(self.least) if side == "not above" else limit
        shown = f"{number}" if isinstance(number, Quantity) else show(number)
        shown = str(number) if shown in (f"{self.least}", f"{self.most}") else shown
        wrong = f"{shown} is {side} {limit if side != 'not in' else 'the range'}"
        percent = fraction_of_percent(number) if self.unit == "fraction" else None
        hint = f"write {self}" + (f"; {number:g} % is {percent}" if percent else "")
        raise ScenarioError("out-of-range", wrong, hint, value=number)

    def __str__(self) -> str:
        if self.above:
            return f"a number above {self.least:g}, at most {self.most:g}"
        return f"{self.least} to {self.most}"

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
    wrong = f"{show(text)} has a character that cannot be printed"
    hint = "write letters, digits, signs and spaces"
    raise ScenarioError("out-of-range", wrong, hint, value=text)


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
        name = type(value).__name__
        wrong = f"{name}(…) where a list belongs"
        raise ScenarioError("wrong-type", wrong, f"write it in brackets: [{name}(…)]")
    return value


LISTED = BeforeValidator(_listed)
"""Validator of a field with a list of tables."""


def such_as(*examples: Any) -> Any:
    """Make a field that is None where it is not set, with examples for the hints of errors."""
    return Field(default=None, examples=list(examples))


def shorthand(field: str, alone: Any, schema: Any, what: str, hint: str) -> BeforeValidator:
    """Make the validator of a field with a table, of which one value may stand alone.

    Parameters
    ----------
    field : the table's field that such a value is.
    alone : its types.
    schema : the type of all that may be written.
    what, hint : of the error, what the value is not, and what to write instead.
    """

    def read(data: Any) -> Any:
        if data is None or isinstance(data, Mapping | BaseModel):
            return data
        if alone is object or (isinstance(data, alone) and not isinstance(data, bool)):
            return {field: data}
        wrong = f"{show(data)} is {what}"
        raise ScenarioError("wrong-type", wrong, hint, value=data)

    return BeforeValidator(read, json_schema_input_type=schema)


class ScenarioModel(BaseModel):
    """A frozen table of a scenario: made with keywords, or validated from a file's dict."""

    # Validators are built at first use; base classes and unused kinds never need theirs.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    example: ClassVar[dict[str, Any]] = {}
    """Example for the error of an unknown key in a small table."""

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**_plain(fields))
        except ValidationError as error:
            problem = format_validation_error(error, type(self))
        else:
            return
        raise problem

    # Marks this as pydantic's own __init__, so that nested dicts do not call it.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def __setattr__(self, name: str, value: Any = None) -> NoReturn:
        hint = 'write scenario.replace({"link.rate": "1 Gbit/s"}), which returns another scenario'
        wrong = "cannot be set: a scenario is frozen"
        raise ScenarioError("frozen", wrong, hint, file=type(self).__name__, field=name)

    __delattr__ = __setattr__

    @classmethod
    def from_dict(cls, data: Any, *, files: bool = True) -> Self:
        """Return the table of a dict with a file's structure. Raises ScenarioError.

        Without ``files`` a path in it is refused, and no file is opened.
        """
        try:
            return cls.model_validate(_plain(data), context={FILES: files})
        except ValidationError as error:
            problem = format_validation_error(error, cls)
        raise problem

    def __repr__(self) -> str:
        written = self.model_dump(mode="json", exclude_defaults=True)
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in written.items())})"

    __str__ = __repr__


def _plain(value: Any) -> Any:
    """Return a value with NumPy's scalars and arrays converted to Python's."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value
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
        hint = f"write the path of {cls.file_kind} that you may read"
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise ScenarioError("file-unreadable", f"{show(path)} is no regular file", hint)
            with Path(path).open("rb") as file:
                content = file.read(_MOST_BYTES + 1)
        except (OSError, ValueError) as error:
            if isinstance(error, ScenarioError):
                raise
            reason = getattr(error, "strerror", None) or error
            wrong = f"{show(path)} cannot be read ({reason})"
            raise ScenarioError("file-unreadable", wrong, hint, value=path) from None
        if len(content) > _MOST_BYTES:
            hint = "write the path of a smaller file"
            wrong = f"{show(path)} is larger than 256 MiB"
            raise ScenarioError("file-too-large", wrong, hint, value=path)
        return cls.of(path, content)

    @classmethod
    def parse(cls, value: object, info: ValidationInfo) -> Self:
        """Read the file at a path, or return the value if it is one. Raises ScenarioError."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, str) or not value:
            hint = f"write the path of {cls.file_kind} in quotes"
            raise ScenarioError("wrong-type", f"{show(value)} is not a path", hint, value=value)
        if not (info.context or {}).get(FILES, True):
            hint = "write it without, or use the command line"
            raise ScenarioError("file-refused", "no file is read here", hint, value=value)
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
