"""Transfers over TCP, each with its own start and size: listed, in a file, or drawn."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, Strict, model_validator

from forebay.errors import entry
from forebay.scenario.base import DAY, Between, ScenarioModel
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import DataSize, Duration
from forebay.scenario.source import LOADS, RTTS, exactly_one
from forebay.scenario.tcp import Tcp
from forebay.scenario.transfer_sizes import AnyTransferSizes
from forebay.scenario.transfer_table import COLUMNS, TransferTable

if TYPE_CHECKING:
    from typing import Unpack

    from forebay.scenario.inputs import TransferDict, TransfersFields


class Transfer(ScenarioModel):
    """One transfer of a list."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[TransferDict]) -> None: ...

    start: Annotated[Duration, Between(Duration(0), DAY)] = Field(
        description="When it begins, counted from the beginning of the run.", examples=["1 s"]
    )
    size: Annotated[DataSize, Between(DataSize(1), DataSize(10**13))] = Field(
        description="What its application sends.", examples=["100 kB"]
    )
    rtt: Annotated[Duration | None, RTTS] = Field(
        default=None, description="Its two-way propagation delay; not set: the class's rtt."
    )
    congestion_control: Annotated[str | None, Strict()] = Field(
        default=None, description="Linux name of its congestion control; not set: the class's."
    )
    source: Annotated[str | None, Strict()] = Field(
        default=None,
        description='In a network, the router of its sender, or one of the hosts there: "edge0-1#2"'
        " is the second.",
        examples=["edge0-1#2"],
    )
    target: Annotated[str | None, Strict()] = Field(
        default=None, description="The router or host of its receiver.", examples=["edge2-0"]
    )
    route: tuple[Annotated[str, Strict()], ...] = Field(
        default=(),
        description="In a network, the links between routers that its data crosses, in order; not "
        "set: one of the shortest paths.",
        examples=[["edge0-1->pod0-0", "pod0-0->core1", "core1->pod2-0", "pod2-0->edge2-0"]],
    )


class Transfers(Tcp):
    """Transfers over TCP, each with a start and a size, of a list, a file or a distribution."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[TransfersFields]) -> None: ...

    kind: Literal["transfers"] = Field(
        default="transfers", description="What the flows do: send an amount each, and end."
    )
    transfers: tuple[Transfer, ...] = Field(
        default=(), description="The transfers; either these, file or size."
    )
    file: TransferTable | None = Field(
        default=None,
        description="Path of a CSV or Parquet file, relative to the scenario file's folder, whose "
        f"first line has the names of its columns: {', '.join(COLUMNS)}. The first two are needed; "
        "they are as those of a listed transfer, routes with ; between the links. size_bytes is "
        "without headers, as application_bytes in the table of flows; size_bytes there has them.",
        examples=["transfers.csv"],
    )
    size: AnyTransferSizes | None = Field(
        default=None,
        description="What a transfer's application sends, drawn for each: the name of a published "
        "distribution (web-search, data-mining, hadoop), one size, or points of a cdf.",
        examples=["web-search", {"cdf": [["1 kB", 0.5], ["1 MB", 1.0]]}],
    )
    load: Annotated[float | None, Strict(), LOADS] = Field(
        default=None,
        description="With size: first transmissions as a share of the link's rate; in a network, "
        "of the rates of all hosts' own links, or of link.rate for each host; either this or "
        "arrival_rate.",
        examples=[0.5],
    )
    arrival_rate: Annotated[float | None, Strict(), Between(1e-3, 1e9, "transfers/s")] = Field(
        default=None,
        description="With size: mean number of transfers that begin in a second, as a Poisson "
        "process; either this or load.",
        examples=[500.0],
    )

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        given = [name for name in ("transfers", "file", "size") if getattr(self, name)]
        if len(given) != 1:
            wrong = f"{given[1]} is given too" if given else "neither transfers, file nor size"
            hint = f"write one of them, such as {entry('size', 'web-search')}"
            field = given[1] if given else "size"
            raise ScenarioError("contradiction", wrong, hint, field=field)
        if self.size is not None:
            return exactly_one(self, "load", "arrival_rate", ("load", 0.5))
        for name in ("load", "arrival_rate"):
            if getattr(self, name) is not None:
                wrong, hint = "needs a size to draw", f"leave it out, or write size, not {given[0]}"
                raise ScenarioError("contradiction", wrong, hint, field=name)
        return self

    @cached_property
    def table(self) -> TransferTable | None:
        """Its listed transfers; None if they are drawn."""
        if not self.transfers:
            return self.file
        rtt = float(self.rtt.mean)
        columns: dict[str, list[object]] = {
            "start_s": [float(each.start) for each in self.transfers],
            "size_bytes": [float(each.size) for each in self.transfers],
            "congestion_control": [each.congestion_control for each in self.transfers],
            "source": [each.source for each in self.transfers],
            "target": [each.target for each in self.transfers],
            "route": ["; ".join(each.route) for each in self.transfers],
        }
        if any(each.rtt is not None for each in self.transfers):
            columns["rtt_s"] = [rtt if t.rtt is None else float(t.rtt) for t in self.transfers]
        return TransferTable.from_columns(columns)

    @property
    def control_names(self) -> set[str]:
        """Names of its congestion controls, of single transfers too."""
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
        """Return the bit/s of all first transmissions."""
        return self.arrivals_per_second(link_rate) * self.mean_packets * 8 * self.packet
