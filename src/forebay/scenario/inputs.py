"""What a scenario's classes take, for type checkers: keywords, and dicts in their place.

Made from the models by `python -m forebay.scenario.generate_inputs`; never imported at run time.
"""

# ruff: noqa
# fmt: off
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Required, TypedDict

from forebay.scenario.distribution import Distribution, Pareto
from forebay.scenario.distribution_shapes import ExponentialShape, LognormalShape, NormalShape, ParetoShape
from forebay.scenario.flow_length import Amount, FlowLength, Geometric, LognormalLengthShape, ParetoLengthShape
from forebay.scenario.goals import AtLeast, AtMost, ClassGoals, Goals, QueueDelay
from forebay.scenario.link import Jitter, Link, Loss, Measure, OtherLink, Outages, TokenBucket
from forebay.scenario.quantity import DataSize, Duration, Rate
from forebay.scenario.queue import BufferSize, ClassQueue, Queue, Red
from forebay.scenario.rate_trace import RateFile, RateTrace
from forebay.scenario.schedule import Schedule
from forebay.scenario.tcp import Long, Requests, Session, Short
from forebay.scenario.topology import Demand, FatTree, Isp, LinkClass, NetworkFile, NetworkLink, NetworkNode, Topology, TwoLevel
from forebay.scenario.traffic import OnOff, PacketList, Replay, Udp, Video
from forebay.scenario.transfers import Transfer, TransferSizes, TransferTable, Transfers


class TokenBucketDict(TypedDict, total=False):
    """A token bucket: a rate, and the burst by which traffic may exceed it. It starts full."""

    rate: Required[str | Rate]
    burst: str | DataSize | None
    excess: str | DataSize
    refill: Literal["continuous", "interval", "deficit"]


class LossDict(TypedDict, total=False):
    """Random loss of a link, by its seed: independent (Bernoulli), or in bursts (Gilbert-Elliott)."""

    rate: float | None
    good_to_bad: float | None
    bad_to_good: float | None
    loss_in_bad: float | None
    loss_in_good: float | None
    unit: Literal["packet", "byte"]
    place: Literal["after-queue", "before-queue"]


class RateTraceDict(TypedDict, total=False):
    """The rate of a link over time. Text alone is the path of a file."""

    file: str | RateFile | None
    steps: Sequence[Sequence[str | Duration]] | None
    period: str | Duration | None
    repeat: bool


class OutagesDict(TypedDict, total=False):
    """When a link is down: it sends nothing. A list alone is the times."""

    times: Required[Sequence[Sequence[str | Duration]]]
    period: str | Duration | None
    queue: Literal["hold", "drop"]


class JitterDict(TypedDict, total=False):
    """A delay behind the wire, drawn for each packet by the seed, evenly from 0 to the longest."""

    most: Required[str | Duration]
    share: float
    reorder: bool


class LinkDict(TypedDict, total=False):
    """The link under study, the bottleneck."""

    rate: Required[str | Rate]
    delay: str | Duration
    shaper: TokenBucket | TokenBucketDict | None
    policer: TokenBucket | TokenBucketDict | None
    reverse_rate: str | Rate | None
    loss: float | Loss | LossDict | None
    rate_trace: str | RateTrace | RateTraceDict | None
    down: Sequence[Sequence[str | Duration]] | Outages | OutagesDict | None
    jitter: str | Duration | Jitter | JitterDict | None
    framing: Literal["ethernet", "ptm", "atm"] | None


class RedDict(TypedDict, total=False):
    """RED of one class queue; with thresholds in each class it is WRED by class."""

    min: str | DataSize | None
    max: str | DataSize | None
    probability: float | None
    weight: float | None
    gentle: bool | None
    ecn: bool | None


class ClassQueueDict(TypedDict, total=False):
    """One class queue of a port, such as a Junos scheduler or a class of an IOS policy-map."""

    name: Required[str]
    traffic: list[str] | tuple[str, ...]
    default: bool
    priority: int | None
    weight: float
    min_rate: str | Rate | None
    max_rate: str | Rate | None
    burst: str | DataSize | None
    size: str | BufferSize | None
    share: float | None
    discipline: Literal["drop-tail", "bfifo", "red"]
    red: Red | RedDict | None


class QueueDict(TypedDict, total=False):
    """A buffer in front of a link."""

    discipline: Literal["drop-tail", "bfifo", "red", "pie", "codel", "fq_codel", "dualpi2", "cobalt", "cake", "pfifo_head_drop", "classes"]
    size: str | BufferSize
    classes: Sequence[ClassQueue | ClassQueueDict]
    transmit_ring: int
    ecn: bool | None
    min: str | DataSize | None
    max: str | DataSize | None
    probability: float | None
    weight: float | None
    gentle: bool | None
    target: str | Duration | None
    interval: str | Duration | None
    rtt: str | Duration | None
    quantum: str | DataSize | None
    buckets: int | None
    step_thresh: str | Duration | None
    coupling_factor: int | None
    classic_protection: int | None
    drop_on_overload: bool | None
    alpha: float | None


class OtherLinkDict(TypedDict, total=False):
    """A further link that routes may cross, with its own queue."""

    rate: Required[str | Rate]
    delay: str | Duration
    shaper: TokenBucket | TokenBucketDict | None
    policer: TokenBucket | TokenBucketDict | None
    reverse_rate: str | Rate | None
    loss: float | Loss | LossDict | None
    rate_trace: str | RateTrace | RateTraceDict | None
    down: Sequence[Sequence[str | Duration]] | Outages | OutagesDict | None
    jitter: str | Duration | Jitter | JitterDict | None
    framing: Literal["ethernet", "ptm", "atm"] | None
    name: Required[str]
    queue: Queue | QueueDict


class TwoLevelDict(TypedDict, total=False):
    """Core routers, middle routers below them, edge routers below those, and hosts (paper C)."""

    core: Literal["abilene", "ring", "mesh"]
    cores: int
    middles: int
    edges: int
    hosts: int
    spread: float
    tail: float | None
    core_links: int | None
    core_diameter: int | None
    chords: list[str] | tuple[str, ...]
    seed: int


class IspDict(TypedDict, total=False):
    """A provider of any size: core, metropolitan and edge routers, hosts."""

    core: Literal["ring", "mesh", "chords"]
    cores: int
    metros: int
    edges: int
    hosts: int


class FatTreeDict(TypedDict, total=False):
    """A data centre of switches with k ports: k pods, (k / 2)^2 core switches, k^3 / 4 hosts."""

    k: int


class NetworkLinkDict(TypedDict, total=False):
    """A link between two routers, one in each direction."""

    between: Required[list[str] | tuple[str, ...]]
    link_class: str
    rate: str | Rate | None
    delay: str | Duration | None
    buffer: str | BufferSize | None
    one_way: bool


class NetworkNodeDict(TypedDict, total=False):
    """A router, and the hosts on it."""

    name: Required[str]
    hosts: int


class LinkClassDict(TypedDict, total=False):
    """Links with the same properties."""

    name: Required[str]
    rate: str | Rate | None
    rates: Sequence[str | Rate]
    delay: str | Duration | None
    buffer: str | BufferSize | None


class DemandDict(TypedDict, total=False):
    """An entry of the traffic matrix."""

    source: Required[str]
    target: Required[str]
    weight: float


class TopologyDict(TypedDict, total=False):
    """A network: exactly one of two_level, isp, fat_tree, file or links gives its links."""

    two_level: TwoLevel | TwoLevelDict | None
    isp: Isp | IspDict | None
    fat_tree: FatTree | FatTreeDict | None
    file: str | NetworkFile | None
    file_unit: str | Rate | None
    largest_part: bool
    both_directions: bool
    links: Sequence[NetworkLink | NetworkLinkDict]
    failed: list[str] | tuple[str, ...]
    nodes: Sequence[NetworkNode | NetworkNodeDict]
    classes: Sequence[LinkClass | LinkClassDict]
    demands: Sequence[Demand | DemandDict]
    demand_file: str | NetworkFile | None
    demand_unit: str | Rate | None
    demand_total: str | Rate | None
    demand_scale: float
    demand_growth: float
    connection_rate: str | Rate | None
    connection_window: int | None
    metric: Literal["hops", "delay", "inverse-rate"]
    max_paths: int
    max_pairs: int
    model: Literal["response-functions", "hisamatsu-2007"]
    sigma: Literal["windows", "geometric", "poisson"]
    sigma_factor: float
    timeouts: Literal["none", "padhye-1998"]


class ClassGoalsDict(TypedDict, total=False):
    """Goals of one class, written in its [[traffic]]: `goals = { loss_rate = 0.001 }`."""

    throughput: str | Rate | None
    loss_rate: float | None
    queue_delay_mean: str | Duration | None
    queue_delay_p99: str | Duration | None
    fct_mean: str | Duration | None
    fct_p99: str | Duration | None
    fct_increase: float | None
    request_mean: str | Duration | None
    request_p99: str | Duration | None


class UniformDict(TypedDict, total=False):
    """Equally likely anywhere from the first to the second."""

    uniform: Required[Sequence[str | Duration]]


class ExponentialShapeDict(TypedDict, total=False):
    """Without memory; without ends on 0 to 40 means, beyond which nothing is ever drawn."""

    mean: Required[str | Duration]
    low: str | Duration
    high: str | Duration


class ExponentialDict(TypedDict, total=False):
    """Without memory, given as { exponential = "1 s" } or with its ends."""

    exponential: Required[str | Duration | ExponentialShape | ExponentialShapeDict]


class NormalShapeDict(TypedDict, total=False):
    """Bell-shaped; without ends cut at four standard deviations, and never below 0."""

    mean: Required[str | Duration]
    deviation: Required[str | Duration]
    low: str | Duration
    high: str | Duration


class NormalDict(TypedDict, total=False):
    """Bell-shaped, cut at its ends."""

    normal: Required[NormalShape | NormalShapeDict]


class LognormalShapeDict(TypedDict, total=False):
    """Its logarithm is normal; without ends cut at six of the logarithm's deviations."""

    mean: Required[str | Duration]
    deviation: Required[str | Duration]
    low: str | Duration
    high: str | Duration


class LognormalDict(TypedDict, total=False):
    """Its logarithm is normal; cut at its ends."""

    lognormal: Required[LognormalShape | LognormalShapeDict]


class ParetoShapeDict(TypedDict, total=False):
    """Heavy-tailed: P(X > x) falls as x to the power of -shape, up to high."""

    mean: Required[str | Duration]
    shape: Required[float]
    high: Required[str | Duration]


class ParetoDict(TypedDict, total=False):
    """Heavy-tailed; it begins where its mean, cut at ``high``, is the mean asked for."""

    pareto: Required[ParetoShape | ParetoShapeDict]


class ValuesDict(TypedDict, total=False):
    """One of a list; equally likely where no shares are given."""

    values: Required[Sequence[str | Duration]]
    shares: Sequence[float]
    stratified: bool


class ScheduleDict(TypedDict, total=False):
    """On and off times, drawn for each flow from its start on, or the same times for all flows."""

    on: DistributionInput
    off: DistributionInput
    times: Sequence[Sequence[str | Duration]] | None
    period: str | Duration | None


class LongDict(TypedDict, total=False):
    """Long-lived TCP flows, which send during the whole run, until they stop, or on and off."""

    kind: Literal["long"]
    name: str | None
    direction: Literal["forward", "reverse"]
    route: list[str] | tuple[str, ...]
    goals: ClassGoals | ClassGoalsDict | None
    return_route: list[str] | tuple[str, ...]
    access_rate: str | Rate | None
    packet: str | DataSize
    congestion_control: CongestionControlInput
    rtt: DistributionInput
    jitter: str | Duration | None
    timer_tick: str | Duration | None
    sender: Literal["linux", "ns2"]
    initial_window: int | None
    ecn: bool
    sack: bool | None
    delayed_ack: bool | None
    delayed_ack_timeout: str | Duration | None
    min_rto: str | Duration | None
    max_window: int | None
    offload: Literal["auto", "on", "off"]
    segment: int | None
    flows: Required[int | str]
    start: DistributionInput
    access_sharing: int
    stop: DistributionInput
    schedule: Schedule | ScheduleDict | None


class GeometricDict(TypedDict, total=False):
    """Geometric with this mean; at least one packet."""

    geometric: Required[str | Amount]


class ParetoLengthShapeDict(TypedDict, total=False):
    """Heavy-tailed up to ``high``: 1000000 packets or 1500 MB if not set."""

    mean: Required[str | Amount]
    shape: Required[float]
    high: str | Amount


class ParetoLengthDict(TypedDict, total=False):
    """Heavy-tailed, cut at ``high``, rounded to the nearest packet."""

    pareto: Required[ParetoLengthShape | ParetoLengthShapeDict]


class LognormalLengthShapeDict(TypedDict, total=False):
    """Its logarithm is normal; ``high`` as for a Pareto law."""

    mean: Required[str | Amount]
    deviation: Required[str | Amount]
    high: str | Amount


class LognormalLengthDict(TypedDict, total=False):
    """Its logarithm is normal; cut at ``high``, rounded to the nearest packet."""

    lognormal: Required[LognormalLengthShape | LognormalLengthShapeDict]


class ShortFields(TypedDict, total=False):
    """Short TCP flows that arrive as a Poisson process during the whole run."""

    name: str | None
    direction: Literal["forward", "reverse"]
    route: list[str] | tuple[str, ...]
    goals: ClassGoals | ClassGoalsDict | None
    return_route: list[str] | tuple[str, ...]
    access_rate: str | Rate | None
    packet: str | DataSize
    congestion_control: CongestionControlInput
    rtt: DistributionInput
    jitter: str | Duration | None
    timer_tick: str | Duration | None
    sender: Literal["linux", "ns2"]
    initial_window: int | None
    ecn: bool
    sack: bool | None
    delayed_ack: bool | None
    delayed_ack_timeout: str | Duration | None
    min_rto: str | Duration | None
    max_window: int | None
    offload: Literal["auto", "on", "off"]
    segment: int | None
    length: Required[FlowLengthInput]
    load: float | None
    arrival_rate: float | None


class ShortDict(ShortFields):
    """Short TCP flows that arrive as a Poisson process during the whole run."""

    kind: Required[Literal["short"]]


class SessionFields(TypedDict, total=False):
    """Users: each fetches a file over a new TCP flow, thinks, and fetches the next file."""

    name: str | None
    direction: Literal["forward", "reverse"]
    route: list[str] | tuple[str, ...]
    goals: ClassGoals | ClassGoalsDict | None
    return_route: list[str] | tuple[str, ...]
    access_rate: str | Rate | None
    packet: str | DataSize
    congestion_control: CongestionControlInput
    rtt: DistributionInput
    jitter: str | Duration | None
    timer_tick: str | Duration | None
    sender: Literal["linux", "ns2"]
    initial_window: int | None
    ecn: bool
    sack: bool | None
    delayed_ack: bool | None
    delayed_ack_timeout: str | Duration | None
    min_rto: str | Duration | None
    max_window: int | None
    offload: Literal["auto", "on", "off"]
    segment: int | None
    flows: Required[int | str]
    start: DistributionInput
    access_sharing: int
    think: DistributionInput
    stop: DistributionInput
    file: Required[FlowLengthInput]


class SessionDict(SessionFields):
    """Users: each fetches a file over a new TCP flow, thinks, and fetches the next file."""

    kind: Required[Literal["session"]]


class RequestsFields(TypedDict, total=False):
    """Workers that answer each request together; the next is asked when all answers are there."""

    name: str | None
    direction: Literal["forward", "reverse"]
    route: list[str] | tuple[str, ...]
    goals: ClassGoals | ClassGoalsDict | None
    return_route: list[str] | tuple[str, ...]
    access_rate: str | Rate | None
    packet: str | DataSize
    congestion_control: CongestionControlInput
    rtt: DistributionInput
    jitter: str | Duration | None
    timer_tick: str | Duration | None
    sender: Literal["linux", "ns2"]
    initial_window: int | None
    ecn: bool
    sack: bool | None
    delayed_ack: bool | None
    delayed_ack_timeout: str | Duration | None
    min_rto: str | Duration | None
    max_window: int | None
    offload: Literal["auto", "on", "off"]
    segment: int | None
    flows: Required[int | str]
    start: DistributionInput
    access_sharing: int
    think: DistributionInput
    response: Required[FlowLengthInput]
    fan_in: int | None
    service_time: DistributionInput


class RequestsDict(RequestsFields):
    """Workers that answer each request together; the next is asked when all answers are there."""

    kind: Required[Literal["requests"]]


class TransferDict(TypedDict, total=False):
    """One transfer of a list."""

    start: Required[str | Duration]
    size: Required[str | DataSize]
    rtt: str | Duration | None
    congestion_control: str | None
    source: str | None
    target: str | None
    route: list[str] | tuple[str, ...]


class TransferSizesDict(TypedDict, total=False):
    """Sizes of transfers, drawn from a distribution function that is linear between its points."""

    published: Literal["web-search", "data-mining", "hadoop"] | None
    cdf: Sequence[Sequence[str | DataSize]]


class TransfersFields(TypedDict, total=False):
    """Transfers over TCP, each with a start and a size, of a list, a file or a distribution."""

    name: str | None
    direction: Literal["forward", "reverse"]
    route: list[str] | tuple[str, ...]
    goals: ClassGoals | ClassGoalsDict | None
    return_route: list[str] | tuple[str, ...]
    access_rate: str | Rate | None
    packet: str | DataSize
    congestion_control: CongestionControlInput
    rtt: DistributionInput
    jitter: str | Duration | None
    timer_tick: str | Duration | None
    sender: Literal["linux", "ns2"]
    initial_window: int | None
    ecn: bool
    sack: bool | None
    delayed_ack: bool | None
    delayed_ack_timeout: str | Duration | None
    min_rto: str | Duration | None
    max_window: int | None
    offload: Literal["auto", "on", "off"]
    segment: int | None
    transfers: Sequence[Transfer | TransferDict]
    file: str | TransferTable | None
    size: TransferSizes | TransferSizesDict | None
    load: float | None
    arrival_rate: float | None


class TransfersDict(TransfersFields):
    """Transfers over TCP, each with a start and a size, of a list, a file or a distribution."""

    kind: Required[Literal["transfers"]]


class UdpFields(TypedDict, total=False):
    """Datagrams of one size at a constant rate, or as a Poisson process."""

    name: str | None
    direction: Literal["forward", "reverse"]
    route: list[str] | tuple[str, ...]
    goals: ClassGoals | ClassGoalsDict | None
    return_route: list[str] | tuple[str, ...]
    access_rate: str | Rate | None
    packet: str | DataSize
    flows: Required[int | str]
    start: DistributionInput
    access_sharing: int
    stop: DistributionInput
    schedule: Schedule | ScheduleDict | None
    rate: str | Rate | None
    load: float | None
    arrivals: Literal["constant", "poisson"]


class UdpDict(UdpFields):
    """Datagrams of one size at a constant rate, or as a Poisson process."""

    kind: Required[Literal["udp"]]


class OnOffFields(TypedDict, total=False):
    """Datagrams at a peak rate in on times, none in off times; a flow starts in an on time."""

    name: str | None
    direction: Literal["forward", "reverse"]
    route: list[str] | tuple[str, ...]
    goals: ClassGoals | ClassGoalsDict | None
    return_route: list[str] | tuple[str, ...]
    access_rate: str | Rate | None
    packet: str | DataSize
    flows: Required[int | str]
    start: DistributionInput
    access_sharing: int
    stop: DistributionInput
    schedule: Schedule | ScheduleDict | None
    peak_rate: Required[str | Rate]
    on: Required[DistributionInput]
    off: Required[DistributionInput]


class OnOffDict(OnOffFields):
    """Datagrams at a peak rate in on times, none in off times; a flow starts in an on time."""

    kind: Required[Literal["onoff"]]


class VideoFields(TypedDict, total=False):
    """Long-range-dependent video: frames with lognormal sizes from exact fractional Gaussian noise,"""

    name: str | None
    direction: Literal["forward", "reverse"]
    route: list[str] | tuple[str, ...]
    goals: ClassGoals | ClassGoalsDict | None
    return_route: list[str] | tuple[str, ...]
    access_rate: str | Rate | None
    packet: str | DataSize
    flows: Required[int | str]
    start: DistributionInput
    access_sharing: int
    stop: DistributionInput
    schedule: Schedule | ScheduleDict | None
    rate: str | Rate | None
    load: float | None
    hurst: float
    frame_rate: float
    variation: float
    spacing: Literal["burst", "even"]


class VideoDict(VideoFields):
    """Long-range-dependent video: frames with lognormal sizes from exact fractional Gaussian noise,"""

    kind: Required[Literal["video"]]


class ReplayFields(TypedDict, total=False):
    """Packets from a file; each flow sends them once after its start."""

    name: str | None
    direction: Literal["forward", "reverse"]
    route: list[str] | tuple[str, ...]
    goals: ClassGoals | ClassGoalsDict | None
    return_route: list[str] | tuple[str, ...]
    access_rate: str | Rate | None
    flows: Required[int | str]
    start: DistributionInput
    access_sharing: int
    stop: DistributionInput
    schedule: Schedule | ScheduleDict | None
    file: Required[str | PacketList]


class ReplayDict(ReplayFields):
    """Packets from a file; each flow sends them once after its start."""

    kind: Required[Literal["replay"]]


class MeasureDict(TypedDict, total=False):
    """The measured window."""

    warmup: str | Duration
    duration: str | Duration


class AtLeastTableDict(TypedDict, total=False):
    """The share of the round trips that reach the fraction is at least ``probability``."""

    at_least: Required[float]
    probability: Required[float]


class AtMostTableDict(TypedDict, total=False):
    """The share of the round trips that stay below the fraction is at least ``probability``."""

    at_most: Required[float]
    probability: Required[float]


class QueueDelayDict(TypedDict, total=False):
    """Waiting time in the queue; any of these can be combined. The older names outside of this"""

    maximum: str | Duration | None
    quantile: float | None
    at_most: str | Duration | None
    mean: str | Duration | None


class GoalsDict(TypedDict, total=False):
    """Goals for the buffer; a goal that is not set is not checked."""

    utilization: float | AtLeast | AtLeastTableDict | None
    loss_rate: float | AtMost | AtMostTableDict | None
    queue_delay: QueueDelay | QueueDelayDict | None
    queue_delay_mean: str | Duration | None
    queue_delay_p99: str | Duration | None
    fct_increase: float | None
    realtime_loss: float | None


class ScenarioDict(TypedDict, total=False):
    """A link or a network, its traffic, the measured window and the goals."""

    name: str
    link: Required[Link | LinkDict]
    queue: Queue | QueueDict
    links: Sequence[OtherLink | OtherLinkDict]
    topology: Topology | TopologyDict | None
    memory: str | DataSize | None
    traffic: Required[Sequence[Long | LongDict | Short | ShortDict | Session | SessionDict | Requests | RequestsDict | Transfers | TransfersDict | Udp | UdpDict | OnOff | OnOffDict | Video | VideoDict | Replay | ReplayDict]]
    measure: Measure | MeasureDict
    goals: Goals | GoalsDict

DistributionInput = str | Duration | Distribution | UniformDict | ExponentialDict | NormalDict | LognormalDict | ParetoDict | ValuesDict
FlowLengthInput = str | FlowLength | GeometricDict | ParetoLengthDict | LognormalLengthDict
CongestionControlInput = str | Mapping[str, float]
