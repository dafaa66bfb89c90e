"""The answer of a sizing: the buffer, the evidence for it, and the measured curve."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from forebay.catalogue.metrics import BOTTLENECK
from forebay.outcome.document import Closed, Document, LinkRates, Quantiles, Text
from forebay.outcome.model import LinkOutcome, Metric, Outcome
from forebay.scenario import ScenarioError


class Floor(Closed):
    """The packets that hosts and neighbours send at once, whatever the goals; ``why`` is text."""

    packets: int
    why: Text


class Recommended(Closed):
    """The size to configure; the least that was shown to meet the goals may be smaller.

    Attributes
    ----------
    step : number of the step of the rule that decided (docs/reference/recommended.md); 0 in
        documents of earlier versions.
    why : what that step asks, as text.
    floor : what hosts and neighbours send at once; None for an AQM's target.
    """

    packets: int
    bytes: int
    seconds: float
    step: int = 0
    why: tuple[Text, ...]
    floor: Floor | None = None


class Price(Closed):
    """What a size beside the recommended one does to the link.

    Attributes
    ----------
    why : "half", "recommended" or "double", or "loss 1 %": the size that loses no more.
    approximate : it lies between two sizes that were run; the values are interpolated.
    """

    packets: int
    utilization: Metric | None
    loss_rate: Metric | None
    queue_delay_s: Quantiles | None
    why: Text
    approximate: bool = False


class LinkRegime(Closed):
    """The law that governs the link, why, and what would change it; text for users."""

    regime: str
    law: str | None
    why: Text
    would_change: Text


class _Aqm(Closed):
    packet_s: float
    packet_bytes: int
    limit_packets: int
    ecn: bool = False


class AqmTarget(_Aqm):
    """codel, fq_codel, pie, dualpi2, cobalt: the target was sized, ``limit_packets`` is a guard.

    ``interval_s`` is that of the scenario; None for pie and dualpi2, which have none. For cake it
    is the rtt, which was sized; the target is a twentieth of it.
    """

    discipline: Literal["codel", "fq_codel", "pie", "dualpi2", "cobalt", "cake"]
    parameter: Literal["target"] = "target"
    target_s: float
    interval_s: float | None


class AqmThresholds(_Aqm):
    """red: its thresholds were sized, ``limit_packets`` is a guard; ``probability`` is at max."""

    discipline: Literal["red"]
    parameter: Literal["min"] = "min"
    min_bytes: int
    max_bytes: int
    probability: float

    @property
    def is_step(self) -> bool:
        """Whether max is just above min: a step K, as dctcp wants it."""
        return self.max_bytes - self.min_bytes <= self.packet_bytes


class LinkSize(Closed):
    """The size that one link of a class needs, if all of the class had it.

    ``packets`` is the smallest size tried that meets its goals, None if none does; sizes below
    ``low`` were shown to miss. ``binding`` names the goals that the next smaller one tried misses.
    """

    link: str
    packets: int | None
    low: int
    binding: tuple[str, ...] = ()


Aqm = Annotated[AqmTarget | AqmThresholds, Field(discriminator="parameter")]
"""The configuration of an AQM discipline."""


class Memory(Closed):
    """The memory for buffers of ``bytes`` together, of ``ports`` ports of one chip.

    ``tier`` is the smallest kind of memory that suffices, with date and source. ``ram_bits`` is
    the smallest RAM device whose bits are a power of two, as in the column RAM of Appenzeller et
    al. 2004, Figure 15. ``pool_shares`` are its shares of 16, 64 and 132 MB of a chip's memory;
    ``fits_sram_of_2004`` compares it with the largest SRAM chip of that year (§1.3).
    ``faster_than_one_dram`` is whether packets of 40 B at the port's rate arrive faster than the
    access time of one DRAM of 2004 (50 ns); None without a rate. ``text`` is a line for users.
    """

    bytes: int
    ports: int = 1
    tier: str
    date: str
    source: str
    ram_bits: int
    pool_shares: dict[str, float]
    fits_sram_of_2004: bool
    faster_than_one_dram: bool | None
    text: str


class Cost(Closed):
    """Expected and actual seconds of an answer, and the limit ``budget_s``."""

    predicted_s: float
    spent_s: float
    budget_s: float | None = None


class Cheaper(Closed):
    """What the link does with a share of the recommended size; metrics are those of the link."""

    share: float
    packets: int
    utilization: Metric | None
    loss_rate: Metric | None
    queue_delay_mean_s: Metric | None
    queue_delay_p99_s: Metric | None


class ScaledLink(Closed):
    """A link that was simulated instead of a larger one.

    ``packets`` is the buffer at which its goals are just met, over ``packets.n`` replications, None
    where no two sizes enclose it;
    ``flows`` is its number of long flows, ``window_packets`` the window of one of them.
    """

    factor: float
    rate_bps: float
    flows: int
    window_packets: float | None
    packets: Metric | None


class Scaled(Closed):
    """The extrapolation of an answer from smaller links to one that could not be simulated.

    Attributes
    ----------
    factor : rate of the link over that of the largest simulated link.
    error : possible error of the size, as a share of it; None without one.
    links : the simulated links, the largest first.
    exponent : exponent of the buffer in packets as a function of the rate, over these links.
    flows_share : 1 if the number of flows was scaled with the rate and windows were not; 0 if
        windows were scaled and the number of flows was not; between 0 and 1, both.
    """

    factor: float
    error: Metric | None
    links: tuple[ScaledLink, ...]
    exponent: Metric
    flows_share: float = 1.0


Sense = Literal["at least", "at most"]
Direction = Literal["increasing", "decreasing", "non-monotone"]
Unit = Literal["", "s", "bit/s"]


class Verdict(StrEnum):
    """The verdict of a trial on one buffer, or on one goal at one buffer."""

    MET = "met"
    MISSED = "missed"
    UNDECIDED = "undecided"


_WIDE = 10.0
"""Ratio of the ends of a range whose estimate is a guess."""


class Buffer(Closed):
    """A buffer size in three units, with its range of uncertainty in packets.

    ``packets`` is the smallest buffer shown to meet the goals, so it equals ``high``.
    Every buffer tried below ``low`` was shown to miss; those from ``low`` up to ``high``
    are undecided or were not distinguished. ``low == high`` is an exact answer.
    """

    packets: int
    bytes: int
    seconds: float
    low: int
    high: int

    @property
    def is_guess(self) -> bool:
        """Whether the range is too wide to choose a buffer by."""
        return self.high >= _WIDE * self.low

    @model_validator(mode="before")
    @classmethod
    def _sharp(cls, document: Any) -> Any:
        """Read a document with only the size as an exact answer."""
        if not isinstance(document, dict) or "packets" not in document:
            return document
        return {"low": document["packets"], "high": document["packets"]} | document


_PUSHES = {"up": "increasing", "down": "decreasing", "either": "non-monotone"}
"""Directions by their names in older documents."""


class _OfGoal(Closed):
    """What is told of one goal; ``title`` is its metric in words, with the name of its class."""

    name: str
    title: str

    @model_validator(mode="before")
    @classmethod
    def _named(cls, document: Any) -> Any:
        """Take the name for the title, which an older document leaves out where both are alike."""
        if not isinstance(document, dict) or document.get("title"):
            return document
        return document | {"title": str(document.get("name")).replace("_", " ")}


class GoalResult(_OfGoal):
    """One goal at the answer, or at the nearest miss if there is no answer.

    ``binding``: without this goal the answer would be smaller (or, without an answer, this goal
    is one of those that prevent it). ``direction`` is "increasing" if a larger buffer helps to meet
    it, "decreasing" if a smaller one does, "non-monotone" if it may be met between two sizes that
    miss; older documents call it ``pushes``: "up", "down" or "either".
    """

    sense: Sense
    direction: Direction
    unit: Unit
    target: float
    reached: Metric
    verdict: Verdict
    binding: bool

    @model_validator(mode="before")
    @classmethod
    def _older(cls, document: Any) -> Any:
        """Read the direction of an older document."""
        if not isinstance(document, dict) or "pushes" not in document:
            return document
        known = {key: value for key, value in document.items() if key != "pushes"}
        return {"direction": _PUSHES.get(document["pushes"], document["pushes"])} | known


class LawResult(Closed):
    """The buffer by one published law.

    Attributes
    ----------
    packets : None if the law gives none; ``packets_whole`` is the same rounded up.
    packets_between : minimum and maximum over the range of flows; None without a range.
    """

    law: str
    packets: float | None
    packets_whole: int | None = None
    assumptions_hold: bool
    broken_assumptions: tuple[Text, ...]
    source: str
    packets_between: tuple[float, float] | None = None


class GoalAtPoint(Closed):
    """One goal at one buffer that was tried."""

    name: str
    reached: Metric
    verdict: Verdict


class CurvePoint(Closed):
    """One buffer that was tried, its number of seeds, and its verdicts on all goals and on each."""

    packets: int
    seeds: int
    verdict: Verdict
    goals: tuple[GoalAtPoint, ...] = ()
    outcome: Outcome

    @property
    def link(self) -> LinkOutcome:
        """The link behind the buffer."""
        return self.outcome.links[BOTTLENECK]

    def reached(self, name: str) -> Metric | None:
        """Return a goal's metric at this buffer; None if it is unknown."""
        return next((goal.reached for goal in self.goals if goal.name == name), None)

    @property
    def unmet(self) -> list[str]:
        """Names of the goals that this buffer is not shown to meet."""
        return [goal.name for goal in self.goals if goal.verdict is not Verdict.MET]


class Interval(Closed):
    """Buffers that meet all goals, in packets, including both ends.

    ``high`` is None if all sizes up to the search's limit do. ``binding_low`` and
    ``binding_high`` name the goals not met just below and just above; none below 1 packet.
    """

    low: int
    high: int | None
    binding_low: tuple[str, ...]
    binding_high: tuple[str, ...]


class Relaxation(_OfGoal):
    """How far one goal must be relaxed, the others unchanged, for a buffer to exist.

    ``relaxed`` is the target that is met, as ``reached`` shows, with a buffer of ``packets``,
    which meets the others too. All three are None if dropping this goal does not help.
    """

    sense: Sense
    unit: Unit
    target: float
    relaxed: float | None
    packets: int | None
    reached: Metric | None


_GONE = ("loss_warning", "bracket", "evidence")
"""Fields of earlier versions, which no reader of a document needs."""


class FlowsEnd(Closed):
    """The answer at one end of the range of flows; ``buffer`` is None without an answer."""

    flows: int
    buffer: Buffer | None
    region: tuple[Interval, ...]
    reason: Text | None


class SizeResult(Document):
    """The smallest buffer that meets a scenario's goals, or why there is none (schema 1).

    All fields except ``buffer`` may be missing from a document.

    Attributes
    ----------
    asked : the scenario without its defaults (`Scenario.to_dict`); those of ``curve`` are of its
        runs. Empty in documents of earlier versions.
    buffer : the least that was shown to meet all goals, None if none was.
    recommended : the size to configure; None where the evidence carries none, with ``reason``.
    goals : each goal at the recommended size, or at ``nearest``.
    curve : every buffer tried, sorted by packets.
    nearest : packets of the buffer that is nearest to all goals; None with an answer.
    largest : largest buffer shown to meet the goals that push it down (queueing delay);
        None if there is no such goal or none binds up to the search's limit.
    limit : largest buffer that the search may try, packets.
    reason : why there is no recommended size, or how far an interrupted search came; else None.
    notes : notes on the answer, such as its uncertainty and the reason.
    region : all buffers that meet the goals; several intervals if a goal is met between
        sizes that miss. Empty without an answer.
    relaxations : without an answer, one for every goal.
    governs : the law that governs the link, why, and what would change it.
    ends : "flows" in JSON: for a range of flows, the answer at its low and at its high end;
        ``buffer`` then meets the goals at both, and ``curve`` is that of the end that needs more.
    price : what half, the recommended size, its double, and a loss of 1 % take.
    interrupted : whether the search was stopped before its end.
    undecided : without a buffer, whether the interval of an extrapolation leaves open if there is
        one.
    of, of_value : the field that was sized in place of the queue, and its recommended value.
    aqm : for an AQM discipline, the parameters that were sized instead of its limit. All packets
        of the result are then those of its target queue. None for other disciplines.
    scaled : the extrapolation from smaller links, if the link was too large for the time limit.
        The curve is then that of the smaller links, scaled. None otherwise.
    assumptions : what nobody chose and moves the answer, such as "packets of 1500 B".
    late_starts : for each class with flows that start after the warm-up, or stop within it, how
        many do; for a table of transfers, how many start after the end; for others, how many
        a window has on average, if it may have none.
    rates : of each link whose rate varies, by its name.
    cost : expected and actual time of the answer.
    cheaper : what 1, 1/2, 1/4 and 1/8 of the recommended size do, if that was asked.
    without_offload : the least size with hosts that send one packet at a time, on the same seeds;
        None where the scenario chose its hosts, or the time was too short for that run.
    links : for a class of links sized together, the size that each of them needs, the one that
        forces the answer first.
    memory, configuration : added by the command line: the memory for the answer, and the document
        of the configuration by ``--emit``.

    >>> answer = forebay.size(forebay.load("oc3-gsr"), "theory")
    >>> answer.recommended.packets, answer.recommended.step
    (128, 1)
    """

    scenario: str = ""
    asked: dict[str, Any] = Field(default={})
    engine: str = ""
    buffer: Buffer | None
    recommended: Recommended | None = None
    goals: tuple[GoalResult, ...] = ()
    laws: tuple[LawResult, ...] = ()
    curve: tuple[CurvePoint, ...] = ()
    nearest: int | None = None
    largest: int | None = None
    limit: int | None = None
    reason: Text | None = None
    notes: tuple[Text, ...] = ()
    region: tuple[Interval, ...] = ()
    relaxations: tuple[Relaxation, ...] = ()
    governs: LinkRegime | None = None
    ends: tuple[FlowsEnd, ...] = Field(default=(), alias="flows")
    price: tuple[Price, ...] = ()
    interrupted: bool = False
    undecided: bool = False
    of: str = ""
    of_value: str = ""
    aqm: Aqm | None = None
    scaled: Scaled | None = None
    assumptions: tuple[Text, ...] = ()
    late_starts: tuple[Text, ...] = ()
    rates: dict[str, LinkRates] = Field(default={})
    cost: Cost | None = None
    cheaper: tuple[Cheaper, ...] = ()
    without_offload: CurvePoint | None = None
    links: tuple[LinkSize, ...] = ()
    memory: Memory | None = None
    configuration: dict[str, Any] | None = None

    @model_validator(mode="before")
    @classmethod
    def _older(cls, document: Any) -> Any:
        """Read a document of a version that had other evidence beside the rows."""
        if not isinstance(document, dict):
            return document
        return {key: value for key, value in document.items() if key not in _GONE}

    @property
    def exit_status(self) -> int:
        """0 with a recommended size, 1 if no buffer meets the goals, 3 if that is undecided."""
        if self.recommended is not None:
            return 0
        return 1 if self.no_buffer_meets else 3

    @property
    def no_buffer_meets(self) -> bool:
        """Whether the sizes that were run show that none meets the goals."""
        return self.buffer is None and not (self.interrupted or self.undecided)

    @property
    def binding(self) -> tuple[str, ...]:
        """Names of the binding goals."""
        return tuple(goal.name for goal in self.goals if goal.binding)

    @property
    def chosen(self) -> int | None:
        """Packets of the recommended size, or of the nearest miss."""
        size = self.recommended or self.buffer
        return size.packets if size else self.nearest

    @property
    def there(self) -> CurvePoint | None:
        """The point of the curve at the recommended size, or at the nearest miss."""
        return next((point for point in self.curve if point.packets == self.chosen), None)

    @property
    def class_names(self) -> list[str]:
        """Names of the classes of traffic, in the scenario's order."""
        return [kind.name for kind in self.curve[0].outcome.classes] if self.curve else []

    @property
    def bdp_packets(self) -> float | None:
        """Bandwidth-delay product, packets; None if no buffer was tried."""
        return self.curve[0].link.bdp_packets if self.curve else None

    @property
    def seeds(self) -> int:
        """Largest number of replications of a buffer."""
        return max((point.seeds for point in self.curve), default=0)

    def __repr__(self) -> str:
        least, best = self.buffer, self.recommended
        what = "" if self.aqm is None else f"{self.aqm.parameter} of "
        answer = "no buffer meets the goals" if self.no_buffer_meets else "undecided"
        if best is not None:
            answer = f"{what}{best.packets} packets, {best.bytes} B, {best.seconds:.4g} s"
        if least is not None:
            answer += f"; least {what}{least.packets} packets"
        return f"SizeResult({self.scenario!r}, {self.engine}: {answer})"

    __str__ = __repr__


def expect_answer(value: object) -> None:
    """Refuse a value that is not a SizeResult, such as an Outcome. Raises ScenarioError."""
    if not isinstance(value, SizeResult):
        raise ScenarioError("wrong-type.no-answer", value=value)
