"""The common base of all answers: closed, versioned, and equal after a JSON round trip."""

from __future__ import annotations

import json
import operator
import os
import stat
from collections.abc import Callable, Mapping, Sized
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, ClassVar, Literal, NoReturn, Self

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import ErrorDetails

from forebay.errors import ForebayError
from forebay.files.atomic import replacing
from forebay.outcome.reading import FloatArray, Histogram, IntArray
from forebay.scenario import Scenario, ScenarioError
from forebay.words import Fact

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SCHEMA = 1
"""It increases when a field changes its meaning or is removed; a new field does not change it."""

_DISPLAY = "forebay.report.documents"
"""Module that shows an answer in a notebook; by name, because the report imports the answers."""


class DocumentError(ForebayError, ValueError):
    """A JSON document that cannot be read."""


def _is_newer(schema: Any) -> bool:
    return isinstance(schema, int) and schema > SCHEMA


def _known_schema(value: Any) -> Any:
    if _is_newer(value):
        raise ValueError(Fact("document.newer", value=value, here=SCHEMA))
    return value


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, Fact) else value


Text = Annotated[str, BeforeValidator(_text)]
"""A sentence of a document; a fact is worded when it comes in."""


class Closed(BaseModel):
    """A frozen part of an answer; a field that it does not have is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)


class Document(Closed):
    """A whole answer, which is one JSON document.

    ``OLDER`` has the keys that have changed their name, by the older one; both are read.
    """

    OLDER: ClassVar[Mapping[str, str]] = {}

    schema_: Annotated[Literal[1], BeforeValidator(_known_schema)] = Field(
        default=1, alias="schema"
    )

    def __hash__(self) -> int:
        scenario = getattr(self, "scenario", None)
        return hash((type(self).__name__, scenario if isinstance(scenario, str) else None))

    def to_dict(self) -> dict[str, Any]:
        """Return the document as JSON types; `from_dict` reads it back equal."""
        return self.model_dump(mode="json", by_alias=True)

    def to_json(self, indent: int | None = 2) -> str:
        """Return the document as text.

        Raises
        ------
        ValueError
            A number is not finite; JSON cannot represent it.
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_dict(cls, document: Any, source: str = "document") -> Self:
        """Read a document of `to_dict`.

        Parameters
        ----------
        source : name of the document in messages, such as its file name.

        Raises
        ------
        DocumentError
            It is not a document of this type, or its schema is newer than this version's.
        """
        if not isinstance(document, Mapping) or "schema" not in document:
            name = cls._called()
            raise DocumentError("unreadable-document.no-schema", file=source, name=name)
        document = {cls.OLDER.get(key, key): document[key] for key in document}
        missing = cls._missing(document)
        if missing and not _is_newer(document["schema"]):
            raise DocumentError(
                "unreadable-document.no-field", file=source, name=cls._called(), missing=missing
            )
        _check_scenarios(document, source)
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            raise _refused(source, error) from None

    @classmethod
    def from_json(cls, text: str | bytes, source: str = "document") -> Self:
        """Read a document of `to_json`; parameters and errors are those of `from_dict`."""
        return cls.from_dict(parse(text, source), source)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the document to a file atomically; `load` reads it.

        Raises
        ------
        OSError
            It cannot be written.
        """
        with replacing(path) as file:
            file.write(f"{self.to_json()}\n".encode())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a file of `save` or of ``--json``.

        Raises
        ------
        DocumentError
            It cannot be read, or it is no document of this type.
        """
        return cls.from_json(content_of(path), str(path))

    def figure(self) -> Figure:
        """Return a picture of the answer; ``.savefig(path)`` writes it to a file."""
        figure: Figure = _display().figure(self)
        return figure

    def _repr_html_(self) -> str:
        html: str = _display().html(self)
        return html

    @classmethod
    def _missing(cls, document: Mapping[str, Any]) -> str:
        """Return the first required field that the document lacks, or ""."""
        needed = (name for name, field in cls.model_fields.items() if field.is_required())
        return next((name for name in needed if name not in document), "")

    @classmethod
    def _called(cls) -> str:
        return cls.__name__


class TextDocument(Document):
    """A whole answer whose ``str()`` is what the command line prints of it."""

    def __str__(self) -> str:
        text: str = _display().text(self)
        return text


MOST_BYTES = 256 * 1024 * 1024
"""A trace of every flow's window has tens of MB; a device file has no end."""


_MOST_DIGITS, _MOST_NUMBER = 20, 1e100
"""Nothing that is read, counted or computed of a link comes near."""


def content_of(path: str | PathLike[str]) -> bytes:
    """Return a document's bytes. Raises DocumentError: not there, not readable, too long."""
    name = os.fspath(path)
    try:
        if stat.S_ISCHR(os.stat(path).st_mode):
            raise DocumentError("unreadable-document.device", file=name)
        with open(path, "rb") as file:
            return within_bounds(file, name)
    except OSError as error:
        why = error.strerror
        raise DocumentError("unreadable-document.not-read", file=name, why=why) from None


def within_bounds(file: BinaryIO, source: str) -> bytes:
    """Return the bytes of an open document. Raises DocumentError if it is too long."""
    raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise DocumentError("unreadable-document.long", file=source, mib=MOST_BYTES >> 20)
    return raw


def parse(text: str | bytes, source: str = "document") -> Any:
    """Return the content of JSON text. Raises DocumentError."""
    try:
        return json.loads(text, parse_constant=_no_number, parse_int=_whole, parse_float=_number)
    except (ValueError, RecursionError) as error:
        raise DocumentError("unreadable-document.no-json", file=source, why=error) from None


def _no_number(text: str) -> NoReturn:
    raise ValueError(Fact("document.no-number", value=text[:20]))


def _whole(text: str) -> int:
    return int(text) if len(text) <= _MOST_DIGITS else _no_number(text)


def _number(text: str) -> float:
    number = float(text)
    return number if abs(number) < _MOST_NUMBER else _no_number(text)


def _check_scenarios(document: Mapping[str, Any], source: str) -> None:
    """Refuse a document whose scenario is none: answers keep it as it was written."""
    parts: list[Any] = [document, *_tables(document.get("outcomes"))]
    parts += [row.get("outcome") for row in _tables(document.get("curve"))]
    for part in _tables(parts):
        for name in ("scenario", "start_scenario", "asked"):
            if isinstance(part.get(name), dict) and (part[name] or name != "asked"):
                _check_scenario(part[name], f"{source}: {name}")


def _check_scenario(written: dict[str, Any], where: str) -> None:
    try:
        Scenario.from_dict(written, files=False)
    except ScenarioError as error:
        # Its files may be elsewhere, and an older version may have allowed what contradicts.
        if error.code not in ("file-refused", "contradiction"):
            wrong = error.parts["wrong"]
            raise DocumentError(
                "unreadable-document.scenario", file=where, field=error.field, why=wrong
            ) from None


def _tables(parts: Any) -> list[Mapping[str, Any]]:
    listed: list[Any] = parts if isinstance(parts, list) else []
    return [part for part in listed if isinstance(part, Mapping)]


def _refused(source: str, error: ValidationError) -> DocumentError:
    """Return the error for the first mistake; for a newer schema, report only that."""
    told = [(_why(mistake), mistake["loc"]) for mistake in error.errors()]
    why, loc = next((one for one in told if one[0].kind == "document.newer"), told[0])
    field = "" if why.kind == "document.newer" else ".".join(map(str, loc))
    return DocumentError("unreadable-document.invalid", file=source, field=field, why=why)


def _why(mistake: ErrorDetails) -> Fact:
    """Return what a validator of ours raised, or else pydantic's words."""
    raised = mistake.get("ctx", {}).get("error")
    if isinstance(raised, ValueError) and isinstance(raised.args[0], Fact):
        return raised.args[0]
    if mistake["type"] == "extra_forbidden":
        return Fact("document.no-field", schema=SCHEMA)
    text = " ".join(mistake["msg"].removeprefix("Value error, ").split())
    return Fact("document.refused", why=text[:1].lower() + text[1:])


def _display() -> Any:
    return import_module(_DISPLAY)


_MOST = 1e100
"""No reading is beyond it, and sums of squares of such numbers are still numbers."""


def _floats(values: Any) -> FloatArray:
    numbers: FloatArray = _list_of(values, np.float64)  # None becomes NaN
    if (np.abs(numbers) > _MOST).any():
        raise ValueError(Fact("document.too-large", most=_MOST))
    return numbers


def _list_of(values: Any, kind: type[np.generic]) -> Any:
    """Return the array of a list of numbers. Raises ValueError."""
    try:
        numbers = np.asarray(values, dtype=kind)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(Fact("document.no-list-because", why=str(error))) from None
    if numbers.ndim != 1:
        raise ValueError(Fact("document.no-list"))
    return numbers


def alike(series: Mapping[str, Sized]) -> None:
    """Raise ValueError unless all arrays, by name, have one length."""
    (first, values), *others = series.items()
    for name, other in others:
        if len(other) != len(values):
            counts = {"many": len(other), "others": len(values)}
            raise ValueError(Fact("document.lengths", name=name, first=first, **counts))


def _numbers(values: FloatArray) -> list[float | None]:
    if np.isnan(values).any():
        return [None if np.isnan(value) else value for value in values.tolist()]
    return list(values.tolist())


Floats = Annotated[
    FloatArray,
    BeforeValidator(_floats),
    PlainSerializer(_numbers),
    WithJsonSchema({"type": "array", "items": {"type": ["number", "null"]}}),
]
"""Numbers; NaN is null in JSON."""


Ints = Annotated[
    IntArray,
    BeforeValidator(lambda values: _list_of(values, np.int64)),
    PlainSerializer(lambda values: values.tolist()),
    WithJsonSchema({"type": "array", "items": {"type": "integer"}}),
]


def _histogram(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    edges, counts = (_floats(value.get(name)) for name in ("edges", "counts"))
    ascend = bool(np.isfinite(edges).all() and (np.diff(edges) > 0.0).all())
    if len(edges) != len(counts) + 1 or not ascend or not (counts >= 0.0).all():
        raise ValueError(Fact("document.no-histogram"))
    return Histogram(edges, counts)


Bins = Annotated[
    Histogram,
    BeforeValidator(_histogram),
    PlainSerializer(lambda bins: {"edges": bins.edges.tolist(), "counts": bins.counts.tolist()}),
    WithJsonSchema(
        {
            "type": "object",
            "properties": {
                name: {"type": "array", "items": {"type": "number"}} for name in ("edges", "counts")
            },
            "required": ["edges", "counts"],
            "additionalProperties": False,
        }
    ),
]


class WithArrays(Closed):
    """A part with arrays; other values of its document are recomputed when it is read."""

    model_config = Closed.model_config | {"arbitrary_types_allowed": True}

    @model_validator(mode="before")
    @classmethod
    def _without_computed(cls, document: Any) -> Any:
        if not isinstance(document, Mapping):
            return document
        computed = {field.alias or name for name, field in cls.model_computed_fields.items()}
        # A field's name in Python may be the name of a computed field in JSON.
        given = {n for n, field in cls.model_fields.items() if field.alias not in (None, *document)}
        dropped = computed - given
        return {name: value for name, value in document.items() if name not in dropped}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.model_dump() == other.model_dump()

    def __hash__(self) -> int:
        return hash(type(self).__name__)  # arrays do not hash


IDEAL = Fact("slowdown.ideal")
"""What a completion time is divided by: `ideal_s` of docs/reference/readings.md."""


def _with_number(operation: Callable[[float, float], Any]) -> Callable[[Any, Any], Any]:
    """Return a method of Metric that takes a number or a Metric, and their values."""

    def method(self: Metric, other: Any) -> Any:
        known = isinstance(other, Metric | int | float)
        return operation(self.value, float(other)) if known else NotImplemented

    return method


class Metric(Closed):
    """A value with its 95 % confidence interval.

    ``n`` is the number of replications. With n = 1 the interval is one of that draw of the traffic,
    from the batches of its run: other draws may be far outside. From n = 2 on it is one of the
    scenario, over its draws. ``low`` and ``high`` are None where there is no interval: one run may
    give none, and replications that all agree do not tell how far another may be. A metric that was
    not measured is None instead of a Metric, never zero.

    >>> forebay.outcome.Metric(value=0.98, low=0.97, high=0.99, n=5) > 0.95
    True
    """

    value: float
    low: float | None
    high: float | None
    n: int

    @property
    def is_open(self) -> bool:
        """Whether only a lower bound is known: unfinished transfers may take longer."""
        return self.low is not None and self.high is None

    @property
    def half_width(self) -> float | None:
        """The larger half of the interval; None without one."""
        if self.low is None or self.high is None:
            return None
        return max(self.high - self.value, self.value - self.low)

    def scaled(self, factor: float, added: float = 0.0) -> Metric:
        """Return it in another unit, multiplied by ``factor`` > 0, or from another zero."""
        low, high = (None if e is None else factor * e + added for e in (self.low, self.high))
        return Metric(value=factor * self.value + added, low=low, high=high, n=self.n)

    def within(self, low: float | None, high: float | None) -> Metric:
        """Return the value with another interval."""
        return Metric(value=self.value, low=low, high=high, n=self.n)

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        """Format the value as a float; without a format, with its interval."""
        return format(self.value, spec) if spec else str(self)

    def __round__(self, digits: int | None = None) -> float:
        return round(self.value, digits)

    def __int__(self) -> int:
        return int(self.value)

    __trunc__ = __int__

    def __neg__(self) -> float:
        return -self.value

    def __pos__(self) -> float:
        return self.value

    def __abs__(self) -> float:
        return abs(self.value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the value as an array of no dimension, so that NumPy's functions take it."""
        return np.array(self.value, dtype=dtype)

    __lt__ = _with_number(operator.lt)
    __le__ = _with_number(operator.le)
    __gt__ = _with_number(operator.gt)
    __ge__ = _with_number(operator.ge)
    __add__ = __radd__ = _with_number(operator.add)
    __sub__ = _with_number(operator.sub)
    __rsub__ = _with_number(lambda value, other: other - value)
    __mul__ = __rmul__ = _with_number(operator.mul)
    __truediv__ = _with_number(operator.truediv)
    __rtruediv__ = _with_number(lambda value, other: other / value)
    __floordiv__ = _with_number(operator.floordiv)
    __rfloordiv__ = _with_number(lambda value, other: other // value)
    __mod__ = _with_number(operator.mod)
    __rmod__ = _with_number(lambda value, other: other % value)
    __divmod__ = _with_number(divmod)
    __rdivmod__ = _with_number(lambda value, other: divmod(other, value))
    __pow__ = _with_number(operator.pow)
    __rpow__ = _with_number(lambda value, other: other**value)

    def __eq__(self, other: object) -> bool:
        """Compare the value with a number; with a Metric, the interval and ``n`` too."""
        return self.value == other if isinstance(other, int | float) else super().__eq__(other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        """Return the value with its interval: "0.9953 (0.988 to 1)"."""
        if self.low is None and self.high is None:
            return f"{self.value:.4g}"
        low, high = ("?" if end is None else f"{end:.4g}" for end in (self.low, self.high))
        return f"{self.value:.4g} ({low} to {high})"


class Quantiles(Closed):
    """Mean and quantiles of one distribution, each with its interval."""

    mean: Metric | None
    p50: Metric | None
    p95: Metric | None
    p99: Metric | None

    def scaled(self, factor: float) -> Quantiles:
        """Return them in another unit, multiplied by ``factor`` > 0."""
        return Quantiles(**{name: part and part.scaled(factor) for name, part in self})


class SlowdownBin(Closed):
    """Slowdown of the transfers of some sizes: completion time over `IDEAL`.

    Attributes
    ----------
    above_bytes, up_to_bytes : the sizes, in whole packets on the link; the last bin has no end.
    transfers, unfinished : as in `ClassOutcome`.
    slowdown : a part is None if it is unknown because of unfinished transfers.
    least : lower bounds of the unknown parts; None if all are known.
    """

    above_bytes: float
    up_to_bytes: float | None
    transfers: Metric | None
    unfinished: Metric | None
    slowdown: Quantiles | None
    least: Quantiles | None = None


class LinkRates(Closed):
    """The rate of a link over the period of its trace or of its outages, or over the run.

    Attributes
    ----------
    mean_bps : what sizes in time, bandwidth-delay products and loads refer to: the mean over the
        period, over the length of a trace that does not repeat, or the rate of a link whose outages
        do not repeat.
    p1_bps, p5_bps, p50_bps, p95_bps, p99_bps : the rate is no higher for 1 %, 5 % and so on of the
        time. Unlike quantiles of waits, low ones are the bad ones.
    zero_share : share of the time in which nothing is sent.
    longest_zero_s : the longest such time.
    window_bps : the mean over the measured window, to which readings such as utilization refer;
        None in older documents.
    """

    mean_bps: float
    p1_bps: float
    p5_bps: float
    p50_bps: float
    p95_bps: float
    p99_bps: float
    zero_share: float
    longest_zero_s: float
    window_bps: float | None = None
