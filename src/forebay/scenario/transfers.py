"""Transfers over TCP, each with its own start and size: listed, in a file, or drawn."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, Unpack

import numpy as np
from pydantic import BeforeValidator, Field, Strict, model_validator

from forebay.catalogue import CONTROLS
from forebay.packages import import_package
from forebay.scenario.base import DAY, Between, FromFile, ScenarioModel, such_as
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import DataSize, Duration
from forebay.scenario.source import LOADS, RTTS
from forebay.scenario.tcp import Tcp
from forebay.words import Fact, show

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forebay.scenario import inputs

Points = tuple[tuple[float, float], ...]
"""Bytes, and the share of the transfers that have no more, both rising."""

_PACKET = 1460
"""Bytes of a packet's payload in the simulations that published sizes in packets."""


def _packets(*points: tuple[int, float]) -> Points:
    return tuple((float(_PACKET * packets), share) for packets, share in points)


PUBLISHED: Mapping[str, Points] = {
    # Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, Figure 4: background flows of a
    # cluster for web search; in packets as Alizadeh et al., "pFabric", SIGCOMM 2013, simulated it.
    "web-search": _packets(
        (1, 0.0), (6, 0.15), (13, 0.2), (19, 0.3), (33, 0.4), (53, 0.53), (133, 0.6), (667, 0.7),
        (1333, 0.8), (3333, 0.9), (6667, 0.97), (20_000, 1.0),
    ),
    # Greenberg et al., "VL2", SIGCOMM 2009, Figure 2: a cluster for data mining; in packets as
    # the same paper on pFabric simulated it: half of the flows are one packet.
    "data-mining": _packets(
        (1, 0.5), (2, 0.6), (3, 0.7), (7, 0.8), (267, 0.9), (2107, 0.95), (66_667, 0.99),
        (666_667, 1.0),
    ),
    # Roy et al., "Inside the social network's (datacenter) network", SIGCOMM 2015, Figure 6:
    # Hadoop at Facebook; as read by Li et al., "HPCC", SIGCOMM 2019.
    "hadoop": (
        (1.0, 0.0), (100.0, 0.01), (200.0, 0.02), (300.0, 0.05), (350.0, 0.15), (400.0, 0.2),
        (500.0, 0.3), (600.0, 0.4), (700.0, 0.5), (1e3, 0.6), (2e3, 0.67), (7e3, 0.7), (3e4, 0.72),
        (5e4, 0.82), (8e4, 0.87), (1.2e5, 0.9), (3e5, 0.95), (1e6, 0.975), (2e6, 0.99), (1e7, 1.0),
    ),
}  # fmt: skip
"""Published distributions by name: sizes are linear between two points."""

_SIZES = Between(DataSize(1), DataSize(10**13))


def _named(value: object) -> object:
    """Read a published distribution's name, or the one size of all transfers."""
    if not isinstance(value, str):
        return value
    if value in PUBLISHED:
        return {"published": value}
    try:
        return {"cdf": [[DataSize.parse(value), 1.0]]}
    except ScenarioError as error:
        hint = Fact("unknown-name.sizes", known=", ".join(PUBLISHED))
        raise error.but("unknown-name", hint=hint) from None


class TransferSizes(ScenarioModel):
    """Sizes of transfers, drawn from a distribution function that is linear between its points."""

    published: Literal["web-search", "data-mining", "hadoop"] | None = None
    """A published distribution: web-search (Alizadeh et al. 2010, DCTCP), data-mining (Greenberg et
    al. 2009, VL2), hadoop (Roy et al. 2015, Facebook)."""
    cdf: tuple[tuple[Annotated[DataSize, _SIZES], Annotated[float, Strict()]], ...] = Field(
        default=(), examples=[[["1 kB", 0.5], ["1 MB", 1.0]]]
    )
    """Points of another: a size, and the share of the transfers that are no larger. The first size
    has its share to itself."""

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if (self.published is None) == (not self.cdf):
            raise ScenarioError("contradiction.distribution", field="cdf", both=bool(self.cdf))
        points = self.cdf
        apart = all(a[0] < b[0] and a[1] <= b[1] for a, b in pairwise(points))
        if points and not (apart and points[0][1] >= 0.0 and points[-1][1] == 1.0):
            raise ScenarioError("out-of-range.cdf", field="cdf")
        return self

    @property
    def points(self) -> Points:
        """Its points: bytes and share."""
        if self.published is not None:
            return PUBLISHED[self.published]
        return tuple((float(size), share) for size, share in self.cdf)

    @property
    def mean_square(self) -> float:
        """The mean of the squared size over the square of the mean: 1 if all are equal."""
        (first, share), *_ = points = self.points
        mean, square = share * first, share * first**2
        for (low, below), (high, up_to) in pairwise(points):
            mean += (up_to - below) * (low + high) / 2
            square += (up_to - below) * (low**2 + low * high + high**2) / 3
        return square / mean**2

    def mean_packets(self, payload: int) -> float:
        """Return the mean of whole packets with so many bytes of payload each."""
        (first, share), *_ = points = self.points
        total = share * ceil(first / payload)
        for (low, below), (high, up_to) in pairwise(points):
            span = _ceilings(high / payload) - _ceilings(low / payload)
            total += (up_to - below) * span / ((high - low) / payload)
        return total


def _ceilings(packets: float) -> float:
    """Return the integral from 0 of whole packets, rounded up."""
    whole = ceil(packets)
    return (whole - 1) * whole / 2 + whole * (packets - whole + 1)


AnyTransferSizes = Annotated[
    TransferSizes, BeforeValidator(_named, json_schema_input_type=str | TransferSizes)
]
"""A field's value: a name, one size, or a table."""

MOST_TRANSFERS = 20_000_000
NEEDED = ("start_s", "size_bytes")
TEXTS = ("congestion_control", "source", "target", "route")
COLUMNS = (*NEEDED, "rtt_s", *TEXTS)
_PS_PER_S = 1e12
_LIMITS = {"start_s": (0.0, float(DAY)), "size_bytes": (1.0, 1e13), "rtt_s": (1e-6, 60.0)}


@dataclass(frozen=True, slots=True)
class TransferTable(FromFile):
    """Transfers. Two tables are equal if their rows are.

    Attributes
    ----------
    path : of the file; relative to the current folder, or absolute; "" if it is no file's.
    digest : SHA-256 of the rows.
    start_ps, size_bytes : int64, shape (transfers,)
    rtt_ps : int64, shape (transfers,), or None
    texts : the other columns by name, each a list of text; "" in a cell is none.
    """

    file_kind: ClassVar[str] = "a CSV or Parquet file"
    content_kind: ClassVar[str] = "transfers"

    digest: str
    path: str = field(compare=False)
    start_ps: NDArray[np.int64] = field(compare=False, repr=False)
    size_bytes: NDArray[np.int64] = field(compare=False, repr=False)
    rtt_ps: NDArray[np.int64] | None = field(compare=False, repr=False)
    texts: Mapping[str, Sequence[str]] = field(compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.start_ps)

    @property
    def length_s(self) -> float:
        """The last start, seconds."""
        return float(self.start_ps.max()) / _PS_PER_S

    @property
    def control_names(self) -> set[str]:
        """Names of the congestion controls of its transfers."""
        return set(self.texts.get("congestion_control", ())) - {""}

    @classmethod
    def of(cls, path: str, content: bytes) -> Self:
        """Return the transfers of a file's content. Raises ScenarioError, MissingPackage."""
        read = _parquet if path.lower().endswith(".parquet") else _csv
        columns = read(path, content)
        unknown = [name for name in columns if name not in COLUMNS]
        missing = [name for name in NEEDED if name not in columns]
        if unknown or missing:
            kind = "transfers.no-column" if missing else "transfers.unknown-column"
            raise _wrong(path, Fact(kind, name=(missing or unknown)[0]))
        return cls.from_columns(columns, path)

    @classmethod
    def from_columns(cls, columns: Mapping[str, Sequence[Any]], path: str = "") -> Self:
        """Return the transfers of columns by name, of equal length. Raises ScenarioError."""
        rows = len(columns["start_s"])
        if not 0 < rows <= MOST_TRANSFERS:
            raise _wrong(path, Fact("transfers.number", rows=rows, most=MOST_TRANSFERS))
        numbers = {name: _numbers(path, name, columns[name]) for name in _LIMITS if name in columns}
        rtt = numbers.get("rtt_s")
        texts = {name: list(map(_text, columns[name])) for name in TEXTS if name in columns}
        controls = texts.get("congestion_control", ())
        unknown = {name for name in set(controls) if name and name not in CONTROLS}
        for row, name in enumerate(controls, 1):
            if name in unknown:
                raise _wrong(path, Fact("transfers.control", row=row, name=name))
        times = (numbers["start_s"] * _PS_PER_S).round().astype("int64")
        sizes = numbers["size_bytes"].round().astype("int64")
        trips = None if rtt is None else (rtt * _PS_PER_S).round().astype("int64")
        digest = hashlib.sha256(times.tobytes() + sizes.tobytes())
        digest.update(b"" if trips is None else trips.tobytes())
        for name, values in texts.items():
            digest.update("\n".join([name, *values]).encode())
        return cls(digest.hexdigest(), path, times, sizes, trips, texts)


def _numbers(path: str, name: str, values: Sequence[Any]) -> NDArray[np.float64]:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        row, cell = next(pair for pair in enumerate(values, 1) if not _is_number(pair[1]))
        kind = "transfers.no-number" if _text(cell) else "transfers.blank"
        raise _wrong(path, Fact(kind, row=row, name=name, cell=cell)) from None
    low, high = _LIMITS[name]
    bad = ~((array >= low) & (array <= high))
    if bad.any():
        row = int(bad.argmax())
        cell = array[row]
        what = Fact("transfers.beyond", row=row + 1, name=name, cell=cell, low=low, high=high)
        raise _wrong(path, what)
    return array


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()


def _csv(path: str, content: bytes) -> dict[str, Sequence[Any]]:
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error):
        raise _wrong(path, Fact("transfers.no-csv")) from None
    rows = [row for row in rows if row]
    if len(rows) < 2:
        raise _wrong(path, Fact("transfers.none"))
    head = [name.strip() for name in rows[0]]
    ragged = next((at for at, row in enumerate(rows[1:], 1) if len(row) != len(head)), None)
    if ragged is not None:
        raise _wrong(path, Fact("transfers.ragged", row=ragged, cells=len(head)))
    return dict(zip(head, zip(*rows[1:], strict=True), strict=True))


def _parquet(path: str, content: bytes) -> dict[str, Sequence[Any]]:
    pyarrow = import_package("a Parquet file", "pyarrow")
    from pyarrow import parquet

    try:
        table = parquet.read_table(io.BytesIO(content))
    except pyarrow.ArrowException:
        raise _wrong(path, Fact("transfers.no-parquet")) from None
    return {name: table.column(name).to_pylist() for name in table.column_names}


def _wrong(path: str, what: Fact) -> ScenarioError:
    where = show(path) if path else "transfers"
    return ScenarioError("bad-transfers.table", where=where, what=what, columns=", ".join(COLUMNS))


class Transfer(ScenarioModel):
    """One transfer of a list."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.TransferDict]) -> None: ...

    start: Annotated[Duration, Between(Duration(0), DAY)] = Field(examples=["1 s"])
    """When it begins, counted from the beginning of the run."""
    size: Annotated[DataSize, Between(DataSize(1), DataSize(10**13))] = Field(examples=["100 kB"])
    """What its application sends."""
    rtt: Annotated[Duration | None, RTTS] = None
    """Its two-way propagation delay; not set: the class's rtt."""
    congestion_control: Annotated[str | None, Strict()] = None
    """Linux name of its congestion control; not set: the class's."""
    source: Annotated[str | None, Strict()] = such_as("edge0-1#2")
    """In a network, the router of its sender, or one of the hosts there: "edge0-1#2" is the
    second."""
    target: Annotated[str | None, Strict()] = such_as("edge2-0")
    """The router or host of its receiver."""
    route: tuple[Annotated[str, Strict()], ...] = Field(
        default=(),
        examples=[["edge0-1->pod0-0", "pod0-0->core1", "core1->pod2-0", "pod2-0->edge2-0"]],
    )
    """In a network, the links between routers that its data crosses, in order; not set: one of the
    shortest paths."""


class Transfers(Tcp):
    """Transfers over TCP, each with a start and a size, of a list, a file or a distribution.

    >>> forebay.Transfers(size="web-search", load=0.4)
    Transfers(size={'published': 'web-search'}, load=0.4)
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.TransfersFields]) -> None: ...

    kind: Literal["transfers"] = "transfers"
    """What the flows do: send an amount each, and end."""
    transfers: tuple[Transfer, ...] = ()
    """The transfers; either these, file or size."""
    file: TransferTable | None = Field(
        default=None,
        description="Path of a CSV or Parquet file, relative to the scenario file's folder, whose "
        f"first line has the names of its columns: {', '.join(COLUMNS)}. The first two are needed; "
        "they are as those of a listed transfer, routes with ; between the links. size_bytes is "
        "without headers, as application_bytes in the table of flows; size_bytes there has them.",
        examples=["transfers.csv"],
    )
    size: AnyTransferSizes | None = such_as("web-search", {"cdf": [["1 kB", 0.5], ["1 MB", 1.0]]})
    """What a transfer's application sends, drawn for each: the name of a published distribution
    (web-search, data-mining, hadoop), one size, or points of a cdf."""
    load: Annotated[float | None, Strict(), LOADS] = such_as(0.5)
    """With size: first transmissions as a share of the link's rate; in a network, of the rates of
    all hosts' own links, or of link.rate for each host; either this or arrival_rate."""
    arrival_rate: Annotated[float | None, Strict(), Between(1e-3, 1e9, "transfers/s")] = such_as(
        500.0
    )
    """With size: mean number of transfers that begin in a second, as a Poisson process; either this
    or load."""

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        given = [name for name in ("transfers", "file", "size") if getattr(self, name)]
        if len(given) != 1:
            field = given[1] if given else "size"
            raise ScenarioError("contradiction.origin", field=field, both=bool(given), name=field)
        if self.size is not None:
            return self.with_one_of("load", "arrival_rate", ("load", 0.5))
        for name in ("load", "arrival_rate"):
            if getattr(self, name) is not None:
                raise ScenarioError("contradiction.not-drawn", field=name, origin=given[0])
        return self

    @cached_property
    def table(self) -> TransferTable | None:
        """Its listed transfers; None if they are drawn."""
        if not self.transfers:
            return self.file
        rtt = float(self.rtt.mean)
        columns: dict[str, list[object]] = {
            "start_s": [float(transfer.start) for transfer in self.transfers],
            "size_bytes": [float(transfer.size) for transfer in self.transfers],
            "congestion_control": [transfer.congestion_control for transfer in self.transfers],
            "source": [transfer.source for transfer in self.transfers],
            "target": [transfer.target for transfer in self.transfers],
            "route": ["; ".join(transfer.route) for transfer in self.transfers],
        }
        if any(transfer.rtt is not None for transfer in self.transfers):
            columns["rtt_s"] = [rtt if t.rtt is None else float(t.rtt) for t in self.transfers]
        return TransferTable.from_columns(columns)

    @property
    def control_names(self) -> set[str]:
        named = () if self.table is None else self.table.control_names
        return {*self.shares, *named}

    @property
    def flows(self) -> int:
        """Flows that exist during the whole run: none."""
        return 0

    @property
    def mean_packets(self) -> float:
        """Mean whole packets of a transfer."""
        table = self.table
        if table is None:
            assert self.size is not None, "checked when it was made"
            return self.size.mean_packets(self.payload)
        return float((-(-table.size_bytes // self.payload)).mean())

    def arrivals_per_second(self, link_rate: float) -> float:
        """Return the transfers that begin in a second, on average, for a link rate in bit/s."""
        table = self.table
        if table is not None:
            return len(table) / max(table.length_s, 1e-3)
        if self.arrival_rate is not None:
            return self.arrival_rate
        return (self.load or 0.0) * link_rate / (8 * self.packet * self.mean_packets)

    def starting_in(self, seconds: float, link_rate: float) -> float:
        """Return the expected transfers that begin in ``seconds``; of a table, all rows."""
        table = self.table
        return self.arrivals_per_second(link_rate) * seconds if table is None else len(table)

    def offered(self, link_rate: float) -> float:
        return self.arrivals_per_second(link_rate) * self.mean_packets * 8 * self.packet
