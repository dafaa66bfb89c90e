"""A network instead of one link: its routers, links, hosts and demand.

This module has only tables; `forebay.topology` makes a graph of them. A class of links without
rate, delay or buffer has those of [link] and [queue]; it is the class under study.
"""

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self, Unpack

from pydantic import AfterValidator, Field, Strict, model_validator

from forebay.scenario.base import RATES, Between, FromFile, ScenarioModel, printable, such_as
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import Duration, Rate
from forebay.scenario.queue import BufferSize
from forebay.words import one_of

if TYPE_CHECKING:
    from forebay.scenario import inputs


class TwoLevel(ScenarioModel):
    """Core routers, middle routers below them, edge routers below those, and hosts (paper C)."""

    core: Literal["abilene", "ring", "mesh"] = "abilene"
    """How core routers are connected: "abilene" as the 11 of Abilene in 2005 (14 links), "ring", or
    a full "mesh"."""
    cores: Annotated[int, Strict(), Between(2, 1000, "routers")] = 11
    """Number of core routers; 11 for abilene."""
    middles: Annotated[int, Strict(), Between(1, 1_000_000, "routers")] = 54
    """Middle routers, distributed evenly over the core routers."""
    edges: Annotated[int, Strict(), Between(2, 1_000_000, "routers")] = 106
    """Edge routers, distributed evenly over the middle routers."""
    hosts: Annotated[int, Strict(), Between(2, 10_000_000, "hosts")] = 812
    """Hosts, distributed over the edge routers."""
    spread: Annotated[float, Between(0.0, 1.0)] = 0.0
    """How unevenly hosts are distributed: with 0 each edge router has the same number; with s a
    router has 1 - s to 1 + s times the mean, in equal steps."""
    tail: Annotated[float, Between(0.5, 100.0)] | None = None
    """Instead of `spread`: hosts are distributed in proportion to the quantiles of a Pareto
    distribution of this shape, in random order, at least one to each edge router; the smaller, the
    more uneven."""
    core_links: Annotated[int, Strict(), Between(1, 1_000_000, "links")] | None = None
    """Number of links between core routers: those of `core`, and chords that are drawn from all
    sets of so many that keep `core_diameter`."""
    core_diameter: Annotated[int, Strict(), Between(1, 1000, "links")] | None = None
    """With core_links: the links between the two core routers that are farthest apart."""
    chords: tuple[str, ...] = Field(default=(), examples=[["Denver->Chicago"]])
    """Links between core routers besides those of `core`, by name."""
    seed: Annotated[int, Strict(), Between(0, 2**63 - 1)] = 1
    """Of the draws of tail and core_links."""

    @model_validator(mode="after")
    def _drawn_once(self) -> Self:
        for name, other, both in (
            ("tail", "spread", self.tail is not None and self.spread > 0.0),
            ("core_links", "chords", self.core_links is not None and bool(self.chords)),
        ):
            if both:
                raise ScenarioError("contradiction.both", field=name, one=name, other=other)
        if self.core_diameter is not None and self.core_links is None:
            raise ScenarioError("contradiction.diameter-of-no-draw", field="core_diameter")
        return self


class Isp(ScenarioModel):
    """A provider of any size: core, metropolitan and edge routers, hosts."""

    core: Literal["ring", "mesh", "chords"] = "chords"
    """How core routers are connected: "ring", "mesh", or "chords", a ring in which each router is
    also connected to the one a third of the way round."""
    cores: Annotated[int, Strict(), Between(3, 2000, "routers")] = 16
    """Core routers."""
    metros: Annotated[int, Strict(), Between(1, 100_000, "routers")] = 64
    """Metropolitan routers, each on two neighbouring core routers."""
    edges: Annotated[int, Strict(), Between(2, 1_000_000, "routers")] = 512
    """Edge routers, each on one metropolitan router."""
    hosts: Annotated[int, Strict(), Between(2, 10_000_000, "hosts")] = 10_000
    """Hosts, distributed evenly over the edge routers."""


class FatTree(ScenarioModel):
    """A data centre of switches with k ports: k pods, (k / 2)^2 core switches, k^3 / 4 hosts."""

    k: Annotated[int, Strict(), Between(2, 128, "ports")] = 4
    """Ports of a switch; an even number."""

    @model_validator(mode="after")
    def _even(self) -> Self:
        if self.k % 2:
            raise ScenarioError("out-of-range.odd", field="k", value=self.k)
        return self


_Name = Annotated[str, Strict(), Field(min_length=1, max_length=64), AfterValidator(printable)]
_DELAYS = Between(Duration(0), Duration(60))
_HOSTS = Between(0, 10_000_000, "hosts")
_EITHER = (
    ("demands", "demand_file"), ("demand_unit", "demand_total"),
    ("connection_rate", "connection_window"),
)  # fmt: skip
SHAPES = ("two_level", "isp", "fat_tree", "file", "links")
"""The ways to give the links; a topology has exactly one of them."""


@dataclass(frozen=True, slots=True)
class NetworkFile(FromFile):
    """A network's file. Two are equal if their contents are."""

    file_kind: ClassVar[str] = "a GraphML, SNDlib XML, GML, REPETITA or (of a matrix) CSV file"
    content_kind: ClassVar[str] = "file"

    digest: str
    path: str = field(compare=False)
    content: bytes = field(compare=False, repr=False)

    @classmethod
    def of(cls, path: str, content: bytes) -> Self:
        return cls(hashlib.sha256(content).hexdigest(), path, content)


class LinkClass(ScenarioModel):
    """Links with the same properties."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.LinkClassDict]) -> None: ...

    name: _Name = Field(examples=["core"])
    """Name of the class in links and generators."""
    rate: Annotated[Rate | None, RATES] = such_as("10 Gbit/s")
    """Capacity; not set: link.rate."""
    rates: tuple[Annotated[Rate, RATES], ...] = Field(
        default=(), examples=[["5 Mbit/s", "1 Gbit/s"]]
    )
    """For the hosts' own links: several capacities, each for the same share of the hosts; instead
    of rate."""
    delay: Annotated[Duration | None, _DELAYS] = such_as("0.1 ms")
    """Propagation one way; not set: link.delay."""
    buffer: BufferSize | None = such_as("1 bdp/sqrt(n)")
    """Packets that may wait before each of its links; not set: queue.size. The bdp is the link's
    rate times the mean propagation round trip of all connections, n the connections on that
    link."""

    @model_validator(mode="after")
    def _one_rate(self) -> Self:
        if self.rates and self.rate is not None:
            raise ScenarioError("contradiction.both", field="rates", one="rate", other="rates")
        return self


class NetworkNode(ScenarioModel):
    """A router, and the hosts on it."""

    name: _Name = Field(examples=["Denver"])
    """Name of the router in links."""
    hosts: Annotated[int, Strict(), _HOSTS] = 0
    """Hosts on the router; its weight in the gravity model."""


class NetworkLink(ScenarioModel):
    """A link between two routers, one in each direction."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.NetworkLinkDict]) -> None: ...

    between: tuple[_Name, _Name] = Field(examples=[["Denver", "Seattle"]])
    """The two routers. A router needs its own entry only if it has hosts."""
    link_class: _Name = "core"
    """Name of its class of links."""
    rate: Annotated[Rate | None, RATES] = None
    """Capacity; not set: the class's."""
    delay: Annotated[Duration | None, _DELAYS] = None
    """Propagation one way; not set: the class's."""
    buffer: BufferSize | None = None
    """The buffer before each direction; not set: the class's."""
    one_way: Annotated[bool, Strict()] = False
    """The link goes only from the first router to the second."""


class Demand(ScenarioModel):
    """An entry of the traffic matrix."""

    source: _Name
    """Router that sends the data."""
    target: _Name
    """Router that receives it."""
    weight: Annotated[float, Between(0.0, 1e18)] = 1.0
    """Share of the connections, in any unit."""


class Topology(ScenarioModel):
    """A network: exactly one of two_level, isp, fat_tree, file or links gives its links.

    Every class in [[traffic]] uses the whole network: its flows are the connections of the network,
    distributed over pairs of routers by the demand; their rtt is the path's.
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.TopologyDict]) -> None: ...

    two_level: TwoLevel | None = None
    """Paper C's network, and others of two levels."""
    isp: Isp | None = None
    """A provider of any size."""
    fat_tree: FatTree | None = None
    """A data centre."""
    file: NetworkFile | None = such_as("abilene.graphml")
    """GraphML (the Topology Zoo's, yEd's), GML, SNDlib XML or REPETITA, relative to this file."""
    file_unit: Annotated[Rate | None, RATES] = such_as("1 Gbit/s")
    """What 1 is of the capacities of a file without units, and of the demands of an SNDlib file;
    not set: what SNDlib's unit element says, or else 1 Mbit/s, which is noted."""
    largest_part: Annotated[bool, Strict()] = False
    """Leave out the routers that no link joins to the largest part of the network, and their
    demands; they are named."""
    both_directions: Annotated[bool, Strict()] = False
    """Directed links of a file that stand once, without the one back, go both ways."""
    links: tuple[NetworkLink, ...] = ()
    """The links, one by one."""
    failed: tuple[str, ...] = Field(default=(), examples=[["Denver->Seattle"]])
    """Links that are down, by their names in answers; each is down in both directions, and
    connections take the shortest paths that are left."""
    nodes: tuple[NetworkNode, ...] = ()
    """Routers with hosts, in addition to links or a file."""
    classes: tuple[LinkClass, ...] = ()
    """Classes of links. Generators have core, middle, edge and access (the hosts' own links); a
    file has core."""
    demands: tuple[Demand, ...] = ()
    """The traffic matrix; not set: demand_file's, the file's, or gravity."""
    demand_file: NetworkFile | None = such_as("matrix.csv")
    """The traffic matrix as CSV with the header source,target,weight."""
    demand_unit: Annotated[Rate | None, RATES] = such_as("1 Mbit/s")
    """What 1 of the matrix is: its demands are then offered load, which the classes with a load
    carry. Not set: the file's; without any only their ratios count."""
    demand_total: Annotated[Rate | None, RATES] = such_as("40 Gbit/s")
    """Sum of all demands, offered load; instead of demand_unit. Gravity has one only in this
    way."""
    demand_scale: Annotated[float, Between(1e-6, 1e6)] = 1.0
    """A factor on the offered load, such as busy hour over mean."""
    demand_growth: Annotated[float, Between(1e-3, 1e3)] = Field(default=1.0, examples=[1.5])
    """A further factor on it, such as a year's growth."""
    connection_rate: Annotated[Rate | None, RATES] = such_as("2 Mbit/s")
    """Rate of a connection of the offered load, from which the number of connections on each link
    follows."""
    connection_window: Annotated[int | None, Strict(), Between(1, 1_000_000, "packets")] = such_as(
        40
    )
    """Window of a connection of the offered load in packets, instead of its rate: the rate is the
    window over the path's round trip."""
    metric: Literal["hops", "delay", "inverse-rate"] = "hops"
    """The length of a path, for shortest paths."""
    max_paths: Annotated[int, Strict(), Between(1, 64, "paths")] = 16
    """Most paths of equal length over which the connections of a pair are spread (ECMP)."""
    max_pairs: Annotated[int, Strict(), Between(1, 20_000_000, "pairs")] = 1_000_000
    """Most pairs of routers that the network engine treats separately; of more pairs, this many are
    drawn by weight and represent the rest."""
    model: Literal["response-functions", "hisamatsu-2007"] = "response-functions"
    """The network engine's model of TCP and queues; docs/explanation/network.md."""
    sigma: Literal["windows", "geometric", "poisson"] = "windows"
    """hisamatsu-2007: the standard deviation of a queue, which the slides do not define: that of
    the windows' sum (Appenzeller et al. 2004, section 3.2), that of a geometric queue with the same
    mean, sqrt(q (q + 1)), or sqrt(q)."""
    sigma_factor: Annotated[float, Between(1e-3, 1e3)] = 1.0
    """hisamatsu-2007: a factor on that standard deviation."""
    timeouts: Literal["none", "padhye-1998"] = "padhye-1998"
    """hisamatsu-2007: the share of losses that cause a timeout, which the slides do not define:
    none, or min(1, 3 / w)."""

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of the files of the network and of its demand."""
        return tuple(file.path for file in (self.file, self.demand_file) if file is not None)

    @property
    def counts_connections(self) -> bool:
        """Whether the connections of the offered load are known on each link."""
        return self.connection_rate is not None or self.connection_window is not None

    @model_validator(mode="after")
    def _one_shape(self) -> Self:
        given = [name for name in SHAPES if getattr(self, name)]
        if len(given) != 1:
            raise ScenarioError(
                "contradiction.shapes" if given else "contradiction.no-links",
                given=" and ".join(given), known=one_of(SHAPES),
            )  # fmt: skip
        for one, other in _EITHER:
            if getattr(self, one) and getattr(self, other) is not None:
                raise ScenarioError("contradiction.both", field=one, one=one, other=other)
        return self
