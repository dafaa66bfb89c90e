"""The parameter that a sizing changes: the limit of a drop-tail queue, or the target of an AQM.

Under an AQM the limit only guards against floods: a limit that is small enough to have an effect
turns the queue into drop-tail. The decisive parameter is the queue that the discipline aims at:
the target of codel, fq_codel, pie, dualpi2 and cobalt, the rtt of cake, whose target is a
twentieth of it, and the thresholds of red. A sizing then changes this parameter, in packets at
line rate, so that the search, its goals and its noise are the same. It does not change interval
or any other parameter. With several class queues, it sizes the limit of those that have none of
their own, or a share of it.
"""

import math
from dataclasses import dataclass
from typing import Any

from forebay.catalogue import DISCIPLINES
from forebay.catalogue.disciplines import CAKE_TARGETS, RED_SPREAD
from forebay.outcome import Aqm, AqmTarget, AqmThresholds
from forebay.scenario import DataSize, Duration, Scenario, ScenarioError
from forebay.words import Fact

_TARGETS = tuple(kind.name for kind in DISCIPLINES.values() if kind.sized == "target")
_INTERVALS = tuple(kind.name for kind in DISCIPLINES.values() if kind.reads_interval)
_ALPHA = (1e-3, 1e3)
"""The least and the largest alpha that a scenario may have."""
_RED_LEAST = 2
"""Packets below which no weight allows RED's burst (docs/reference/queues.md)."""

_RED_PROBABILITY = DISCIPLINES["red"].parameters["probability"] or 0.0


@dataclass(frozen=True, slots=True)
class SizedParameter:
    """How a number of packets is set in a scenario.

    Attributes
    ----------
    discipline : the scenario's queue discipline.
    parameter : "limit", "target" or "min": the parameter of the answer.
    guard_packets : the limit of an AQM, which does not change; None if the limit is sized.
    packet_s : time of a full packet at line rate, s.
    packet_bytes : a full packet.
    interval_s : interval of codel, fq_codel and cobalt, s; None for others.
    ecn : whether packets are marked instead of dropped.
    probability : probability of a signal at RED's max.
    is_step : whether RED's max is just above its min: dctcp's step K (Alizadeh et al. 2010, 3.1).
    spread : RED's ratio of max to min, which a sizing keeps.
    field : another size that is sized in place of the queue, such as "link.policer.burst"; "" if
        it is the queue.
    """

    discipline: str
    parameter: str
    guard_packets: int | None
    packet_s: float
    packet_bytes: int
    interval_s: float | None = None
    ecn: bool = False
    probability: float = _RED_PROBABILITY
    is_step: bool = False
    spread: float = RED_SPREAD
    field: str = ""

    @property
    def is_limit(self) -> bool:
        """Whether the length of a queue is sized: not a target, a threshold or a burst."""
        return self.guard_packets is None and not self.field

    def set(self, scenario: Scenario, packets: int) -> Scenario:
        """Return the scenario with a queue that aims at, or is limited to, ``packets``."""
        if self.field:
            return scenario.replace({self.field: self.value(scenario, packets)})
        if self.guard_packets is None:
            return scenario.with_buffer(packets)
        guarded = scenario.with_buffer(max(self.guard_packets, self._least_limit(packets)))
        return guarded.with_queue(self._aim(packets))

    def value(self, scenario: Scenario, packets: int) -> str | float:
        """Return what ``field`` is for a size: bytes, or the alpha with which a queue holds it.

        A queue alone holds alpha / (1 + alpha) of the memory (Choudhury and Hahne 1998).
        """
        octets = packets * self.packet_bytes
        if self.field != "queue.alpha" or scenario.memory is None:
            return f"{octets} B"
        alpha = octets / max(float(scenario.memory) - octets, 1.0)
        return float(f"{min(max(alpha, _ALPHA[0]), _ALPHA[1]):.6g}")

    def unlimited(self, scenario: Scenario, packets: int) -> Scenario:
        """Return the scenario with a drop-tail queue so large that nothing is dropped."""
        if self.guard_packets is None:
            return scenario.with_buffer(packets)
        plain = dict.fromkeys(scenario.queue.parameters)
        return scenario.with_buffer(packets).with_queue({"discipline": "drop-tail", **plain})

    def describe(self, packets: int) -> Aqm:
        """Return the configuration for an answer of ``packets``."""
        common: dict[str, Any] = {
            "discipline": self.discipline,
            "packet_s": self.packet_s,
            "packet_bytes": self.packet_bytes,
            "limit_packets": max(self.guard_packets or 0, self._least_limit(packets)),
            "ecn": self.ecn,
        }
        if self.parameter == "min":
            low, high = self._thresholds(packets)
            return AqmThresholds(
                **common, min_bytes=low, max_bytes=high, probability=self.probability
            )
        target = packets * self.packet_s
        interval = CAKE_TARGETS * target if self.discipline == "cake" else self.interval_s
        return AqmTarget(**common, target_s=target, interval_s=interval)

    def _aim(self, packets: int) -> dict[str, Any]:
        if self.parameter == "min":
            low, high = self._thresholds(packets)
            return {"min": DataSize(low), "max": DataSize(high)}
        target = packets * self.packet_s
        if self.discipline == "cake":
            return {"rtt": Duration(CAKE_TARGETS * target)}
        return {"target": Duration(target)}

    def _thresholds(self, packets: int) -> tuple[int, int]:
        low = max(packets, _RED_LEAST) * self.packet_bytes
        return low, low + 1 if self.is_step else max(round(self.spread * low), low + 1)

    def _least_limit(self, packets: int) -> int:
        """Room above the target, so that the discipline acts before the guard does."""
        if self.parameter == "target":
            return 4 * packets
        return math.ceil(2 * max(self.spread, RED_SPREAD) * packets)


def parameter_of(scenario: Scenario, engine: str, limit: int, of: str = "") -> SizedParameter:
    """Return the sized parameter: an AQM's target if the engine simulates it, else the limit.

    ``limit`` is the largest size to try. Laws cover only drop-tail, so theory sizes the limit.
    ``of`` is the field of another size, such as "link.policer.burst". Raises ScenarioError if each
    of several class queues has a limit of its own.
    """
    queue, packet = scenario.queue, int(scenario.packet)
    packet_s = 8 * packet / float(scenario.link.capacity)
    if of:
        _check_field(scenario, of)
        return SizedParameter(queue.discipline, "limit", None, packet_s, packet, field=of)
    if not queue.reads_size:
        raise ScenarioError("contradiction.nothing-to-size", field="queue.classes")
    sized_by_aim = queue.discipline in (*_TARGETS, "red") and engine != "theory"
    if not sized_by_aim:
        return SizedParameter(queue.discipline, "limit", None, packet_s, packet)
    guard = max(limit, scenario.buffer_packets)
    if queue.discipline == "red":
        chance = queue.probability or _RED_PROBABILITY
        low, high = queue.min, queue.max
        step = low is not None and high is not None and high - low <= packet
        spread = high / low if low is not None and high is not None else float(RED_SPREAD)
        return SizedParameter(
            "red", "min", guard, packet_s, packet, None, bool(queue.ecn), chance, step, spread
        )
    timed = queue.discipline in _INTERVALS
    default_s = DISCIPLINES[queue.discipline].parameters.get("interval")
    interval = float(queue.interval or default_s or 0.0) if timed else None
    return SizedParameter(
        queue.discipline, "target", guard, packet_s, packet, interval, bool(queue.ecn)
    )


def notes_of(scenario: Scenario, engine: str, parameter: SizedParameter) -> list[Fact]:
    """Return notes on an AQM that was sized, on what laws ignore there, and on the link's loss."""
    notes, loss = _of_discipline(scenario, engine, parameter), scenario.link.loss
    if loss is not None:
        notes.append(Fact("note.link-loses", percent=100 * loss.mean(scenario.packet)))
    return notes


def _of_discipline(scenario: Scenario, engine: str, parameter: SizedParameter) -> list[Fact]:
    name = scenario.queue.discipline
    if scenario.queue.classes:
        return [_sized_classes(scenario), *_red_of_classes(scenario)]
    if parameter.guard_packets is None:
        if name not in (*_TARGETS, "red"):
            return []
        return [Fact("note.as-drop-tail", discipline=name, engine=engine, red=name == "red")]
    rtts = (getattr(group, "rtt", None) for group in scenario.traffic)
    longest = max((float(rtt.high) for rtt in rtts if rtt is not None), default=0.0)
    if parameter.interval_s is not None and longest > parameter.interval_s:
        interval_ms = 1e3 * parameter.interval_s
        return [Fact("note.interval", interval_ms=interval_ms, rtt_ms=1e3 * longest, by=name)]
    return []


def _check_field(scenario: Scenario, of: str) -> None:
    """Refuse a field that is no burst of this link, and no alpha of its memory."""
    link, queue = scenario.link, scenario.queue
    there = {
        "link.policer.burst": link.policer is not None,
        "link.shaper.burst": link.shaper is not None,
        "queue.alpha": queue.alpha is not None and scenario.memory is not None,
    }
    if of not in there:
        raise ScenarioError("unknown-field", value=of, known=" or ".join(there))
    if not there[of]:
        owner = "memory and queue.alpha" if of == "queue.alpha" else of.rpartition(".")[0]
        raise ScenarioError("contradiction.not-there", value=of, owner=owner)


def _sized_classes(scenario: Scenario) -> Fact:
    """Return which class queues the answer limits, and which have their own limit."""
    queues = scenario.queue.classes
    whole = [queue.name for queue in queues if queue.is_sized and queue.share is None]
    parts = [f"{queue.name} ({queue.share:g})" for queue in queues if queue.share is not None]
    own = [queue.name for queue in queues if not queue.is_sized]
    kinds = (("this size", whole), ("a share of it", parts), ("a size of their own", own))
    parts = [f"with {what}: {', '.join(names)}" for what, names in kinds if names]
    return Fact("note.class-queues", sized="; ".join(parts))


def _red_of_classes(scenario: Scenario) -> list[Fact]:
    """Say below which limit RED of a sized class queue never acts."""
    return [
        Fact("note.red-of-a-class", name=queue.name, least=queue.red.min)
        for queue in scenario.queue.classes
        if queue.is_sized and queue.red is not None and queue.red.min is not None
    ]
