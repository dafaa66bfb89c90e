"""Traffic classes with TCP, and their congestion controls: long flows, short flows, users."""

from collections.abc import Mapping
from math import fsum
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, Unpack

from pydantic import Field, PlainValidator, Strict, WithJsonSchema, model_validator

from forebay import foreign
from forebay.catalogue import CONTROLS
from forebay.scenario import errors
from forebay.scenario.base import MAX_FLOWS, Between, such_as
from forebay.scenario.distribution import AnyDistribution, Distribution
from forebay.scenario.errors import ScenarioError, did_you_mean
from forebay.scenario.flow_length import AnyFlowLength, FlowLength
from forebay.scenario.quantity import Duration
from forebay.scenario.source import LOADS, RTTS, OfADay, Sized, Standing, Stopping, Switched
from forebay.words import Fact, one_of

if TYPE_CHECKING:
    from forebay.scenario import inputs

CONGESTION_CONTROLS: tuple[str, ...] = tuple(CONTROLS)
"""Congestion controls that the simulator has itself; `forebay.foreign` has those from outside."""


def _parse(value: object) -> str | dict[str, float]:
    """Read one name, or a table of shares that sum to 1."""
    if isinstance(value, str):
        return known_control(value)
    if not isinstance(value, Mapping):
        raise ScenarioError("wrong-type.control", value=value, known=one_of(CONGESTION_CONTROLS))
    shares = {known_control(name): _share(name, share) for name, share in value.items()}
    total = fsum(shares.values())
    if abs(total - 1) > 1e-9:
        raise ScenarioError("out-of-range.shares-of-controls", value=value, total=total)
    return next(iter(shares)) if len(shares) == 1 else shares


def known_control(name: object) -> str:
    """Return the name of a congestion control. Raises ScenarioError for any other value."""
    if isinstance(name, str) and name in CONTROLS:
        return name
    known = (*CONGESTION_CONTROLS, *foreign.names())
    meant = did_you_mean(str(name), known)
    raise ScenarioError("unknown-name.control", value=name, meant=meant, known=one_of(known))


def _share(name: str, share: object) -> float:
    if isinstance(share, int | float) and not isinstance(share, bool) and 0 < share <= 1:
        return float(share)
    exact = errors.fraction(share) or errors.fraction_of_percent(share)
    hint = Fact("wrong-type.exact", exact=exact) if exact else ""
    raise ScenarioError("out-of-range.share-of-flows", hint=hint, field=name, value=share)


_NAMES: dict[str, Any] = {"type": "string", "enum": list(CONGESTION_CONTROLS)}
_SHARE = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
_SHARES = {"type": "object", "propertyNames": _NAMES, "additionalProperties": _SHARE}
CongestionControl = Annotated[
    str | dict[str, float], PlainValidator(_parse), WithJsonSchema({"anyOf": [_NAMES, _SHARES]})
]
_LONGEST_LINUX_DELAY = 0.2
"""In seconds: TCP_DELACK_MAX of Linux (include/net/tcp.h)."""

_HEADERS = 52
"""Bytes of IPv4 and TCP headers with timestamps, as `segment` assumes where it is not set."""


class Tcp(Sized):
    """Flows that run TCP: congestion control, sending stack, propagation delay."""

    congestion_control: CongestionControl = Field(
        default="reno",
        description="Linux name of the congestion control, or a table of names with the share "
        f"of the flows that each gets; shares sum to 1. Known: {', '.join(CONGESTION_CONTROLS)}.",
    )
    rtt: Annotated[AnyDistribution, RTTS] = Field(
        default=Distribution.constant(Duration(0.1)),
        examples=["100 ms", {"uniform": ["80 ms", "120 ms"]}],
    )
    """Two-way propagation delay of a flow, without queueing and transmission: a distribution. Flows
    with exactly the same round trip stay synchronized, which does not happen in real networks: give
    a range, even if only of 1 %."""
    jitter: Annotated[Duration | None, Between(Duration(0), Duration(1))] = such_as("200 us")
    """Each segment takes up to this much longer to its receiver, at random and in order, as from
    hosts that are busy with other work. Laws ignore it; not set: none."""
    timer_tick: Annotated[Duration | None, Between(Duration(0), Duration(1))] = such_as("1 ms")
    """Segments reach their receivers only at multiples of this time: a timer delivers them in
    batches, as netem did before Linux 2.6.22 on the kernel's tick, or a host that coalesces
    interrupts. Laws ignore it; not set: none."""
    sender: Literal["linux", "ns2"] = "linux"
    """The sending stack: "linux" (SACK, delayed ACKs) or "ns2" (NewReno, no SACK, an ACK for every
    packet)."""
    initial_window: Annotated[int | None, Strict(), Between(1, 1000, "packets")] = None
    """Congestion window of a new flow; not set: as in the sender's stack."""
    ecn: Annotated[bool, Strict()] = False
    """Whether queues that support ECN may mark the packets instead of dropping them."""
    sack: Annotated[bool | None, Strict()] = None
    """Whether receivers send selective acknowledgements (RFC 2018); not set: as in the sender's
    stack."""
    delayed_ack: Annotated[bool | None, Strict()] = None
    """Whether receivers may acknowledge only every second packet; not set: as in the sender's
    stack."""
    delayed_ack_timeout: Annotated[Duration | None, Between(Duration(1e-3), Duration(0.5))] = (
        such_as("100 ms")
    )
    """Longest time that the ACK of a single packet waits for another packet (RFC 5681, section 4.2:
    less than 500 ms); with sender = "linux" the least value of its adaptive delay, up to 200 ms.
    Needs delayed ACKs; the testbed cannot set it. Not set: 40 ms."""
    min_rto: Annotated[Duration | None, Between(Duration(1e-3), Duration(60))] = such_as("200 ms")
    """Least retransmission timeout; not set: as in the sender's stack."""
    max_window: Annotated[int | None, Strict(), Between(1, 100_000_000, "packets")] = None
    """Most packets in flight that the receiver allows; not set: as in the sender's stack."""

    offload: Literal["auto", "on", "off"] = "auto"
    """Segmentation offload of the senders: whether they hand their cards bursts of several
    segments, which cross the access link back to back. "auto": as the sender's stack does: on for
    "linux", off for "ns2"."""
    segment: Annotated[int | None, Strict(), Between(1, 65_495, "bytes")] = such_as(1448)
    """Payload of a full packet in bytes: what the stack and congestion controls count in bytes
    depends on it; not set: the packet without 52 bytes of IPv4 and TCP headers."""

    @model_validator(mode="after")
    def _fits_in_its_packet(self) -> Self:
        if self.segment is not None and self.segment > self.packet:
            raise ScenarioError(
                "contradiction.segment", field="segment", value=self.segment, packet=self.packet
            )
        return self

    @model_validator(mode="after")
    def _delays_what_it_times(self) -> Self:
        timeout, linux = self.delayed_ack_timeout, self.sender == "linux"
        if timeout is None:
            return self
        if not (linux if self.delayed_ack is None else self.delayed_ack):
            raise ScenarioError("contradiction.no-delayed-ack", field="delayed_ack_timeout")
        if linux and timeout > _LONGEST_LINUX_DELAY:
            field = "delayed_ack_timeout"
            raise ScenarioError("contradiction.longer-than-linux", field=field, value=timeout)
        return self

    @property
    def payload(self) -> int:
        """Bytes of the application in a full packet."""
        return max(int(self.packet) - _HEADERS, 1) if self.segment is None else self.segment

    @property
    def offloads(self) -> bool:
        """Whether its senders have segmentation offload."""
        return self.offload == "on" or self.offloads_by_default

    @property
    def offloads_by_default(self) -> bool:
        """Whether its senders have segmentation offload because nobody chose otherwise."""
        return self.offload == "auto" and self.sender == "linux"

    @property
    def shares(self) -> dict[str, float]:
        """Share of the flows of each congestion control; the shares sum to 1."""
        control = self.congestion_control
        return {control: 1.0} if isinstance(control, str) else dict(control)

    @property
    def control_names(self) -> set[str]:
        """Names of its congestion controls, of single transfers too."""
        return set(self.shares)


class Long(Switched, Tcp):
    """Long-lived TCP flows, which send during the whole run, until they stop, or on and off.

    >>> forebay.Long(flows=100, congestion_control={"cubic": 0.6, "bbr": 0.4})
    Long(congestion_control={'cubic': 0.6, 'bbr': 0.4}, flows=100)
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.LongDict]) -> None: ...

    kind: Literal["long"] = "long"
    """What the flows do: send for the whole run."""

    def starting_in(self, seconds: float, link_rate: float) -> float:
        periods = 1.0 if self.schedule is None else self.schedule.periods_in(seconds)
        return float(self.flows) * periods


class Short(Tcp):
    """Short TCP flows that arrive as a Poisson process during the whole run.

    >>> forebay.Short(length="14 packets", load=0.3)
    Short(length='14 packets', load=0.3)
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.ShortFields]) -> None: ...

    kind: Literal["short"] = "short"
    """What the flows do: send a few packets and end."""
    length: AnyFlowLength = Field(
        examples=["14 packets", {"pareto": {"mean": "40 packets", "shape": 1.2}}]
    )
    """Amount that a flow sends, headers included: a length."""
    load: Annotated[float | None, Strict(), LOADS] = such_as(0.8)
    """First transmissions as a share of the link's rate, or of a network's offered load; either
    this or arrival_rate."""
    arrival_rate: Annotated[float | None, Strict(), Between(1e-3, 1e7, "flows/s")] = such_as(500.0)
    """Mean number of flows that start in a second; either this or load."""

    @model_validator(mode="after")
    def _offered_once(self) -> Self:
        return self.with_one_of("load", "arrival_rate", ("load", 0.8))

    @property
    def flows(self) -> int:
        """Flows that exist during the whole run: none."""
        return 0

    def starting_in(self, seconds: float, link_rate: float) -> float:
        return self.arrivals_per_second(link_rate) * seconds

    @property
    def mean_packets(self) -> float:
        """Mean whole packets of a flow."""
        return self.length.mean_packets(self.packet)

    def offered(self, link_rate: float) -> float:
        return float(self.arrivals_per_second(link_rate) * self.mean_packets * 8 * self.packet)

    def arrivals_per_second(self, link_rate: float) -> float:
        """Return the rate of the Poisson process, flows/s, for a link rate in bit/s."""
        if self.arrival_rate is not None:
            return self.arrival_rate
        return (self.load or 0.0) * link_rate / (8 * self.packet * self.mean_packets)


class Fetching(Standing, Tcp):
    """Flows that each bring file after file, over a TCP flow of its own, with pauses."""

    think: AnyDistribution

    @property
    def fetched(self) -> FlowLength:
        """The length of a file, or of an answer."""
        raise NotImplementedError

    def files_in(self, seconds: float) -> float:
        """Return the approximate number of files of one flow in `seconds` without queueing."""
        cycle = self.think.mean_within(seconds) + self.rtt.mean_within(seconds)
        return 1 + seconds / max(cycle, 1e-12)

    def transfers_in(self, seconds: float) -> float:
        """Return the approximate files of all flows in ``seconds``."""
        return self.flows * self.files_in(seconds)

    @property
    def shortest_cycle(self) -> float:
        """Mean seconds from file to file, or from request to request, without queueing."""
        return self.think.mean + self.rtt.mean


class Session(Stopping, Fetching):
    """Users: each fetches a file over a new TCP flow, thinks, and fetches the next file.

    >>> forebay.Session(flows=50, file={"pareto": {"mean": "60 kB", "shape": 1.2}})
    Session(flows=50, file={'pareto': {'mean': '60000 B', 'shape': 1.2, 'high': '1500000000 B'}})
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.SessionFields]) -> None: ...

    kind: Literal["session"] = "session"
    """What the flows do: fetch files one after another."""
    file: AnyFlowLength = Field(examples=[{"pareto": {"mean": "60 kB", "shape": 1.2}}])
    """Size of a file, headers included: a length."""
    think: OfADay = Field(
        default=Distribution.exponential_of(Duration(1)), examples=[{"exponential": "1 s"}]
    )
    """Pause between the end of a file and the start of the next: a distribution."""

    @property
    def fetched(self) -> FlowLength:
        return self.file


class Requests(Fetching):
    """Workers that answer each request together; the next is asked when all answers are there.

    >>> forebay.Requests(flows=10, response="3 packets")
    Requests(flows=10, response='3 packets')
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.RequestsFields]) -> None: ...

    kind: Literal["requests"] = "requests"
    """What the flows do: answer requests together."""
    response: AnyFlowLength = Field(
        examples=["20 kB", {"lognormal": {"mean": "20 kB", "deviation": "8 kB"}}]
    )
    """What a worker answers, headers included, over a connection of its own with the initial
    window: a length."""
    fan_in: Annotated[int | None, Strict(), Between(1, MAX_FLOWS, "workers")] = such_as(40)
    """Workers that answer one request; the last group may be smaller. Each group has requests of
    its own. Not set: all."""
    think: OfADay = Field(
        default=Distribution.exponential_of(Duration(0.01)), examples=[{"exponential": "10 ms"}]
    )
    """Pause between the arrival of the last answer and the next request: a distribution."""
    service_time: OfADay = Field(
        default=Distribution.constant(Duration(0)), examples=[{"uniform": ["0 us", "50 us"]}]
    )
    """How long a worker takes for a request before it sends: a distribution. Its spread keeps the
    answers apart."""
    start: OfADay = Field(default=Distribution.constant(Duration(0)), examples=["0 s"])
    """When a group's first request is asked, counted from the beginning of the run: a
    distribution."""

    @property
    def fetched(self) -> FlowLength:
        return self.response

    @property
    def together(self) -> int:
        """Workers that answer a request, but perhaps the last group's."""
        return min(self.flows, self.fan_in or self.flows)

    @property
    def shortest_cycle(self) -> float:
        return super().shortest_cycle + self.service_time.mean
