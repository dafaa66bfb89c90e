"""The answer of a question: a coarse curve at once, then the search, whose runs refine it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import forebay
from forebay.web.question import Refused
from forebay.web.runs import Run

if TYPE_CHECKING:
    from forebay.outcome import LinkOutcome, Metric


BUFFERS = 8
_CAKE_TARGETS = 20
"""Targets of cake in its rtt: this package sees public names alone, not the catalogue."""
_SPAN = 8.0
"""The curve goes from an eighth of the laws' guess to eight times it."""


def laws_of(scenario: forebay.Scenario) -> dict[str, Any]:
    """Return what published laws say, the sizes of the curve, and the question's exports."""
    answers = forebay.laws.for_scenario(scenario)
    regime = forebay.laws.regime_of(scenario)
    marks = [
        {
            "law": each.law,
            "packets": each.packets_whole,
            "holds": each.assumptions_hold,
            "broken": list(each.broken_assumptions),
            "source": each.source,
        }
        for each in answers
        if each.packets is not None
    ]
    return {
        "laws": marks,
        "bdp": scenario.bdp_packets,
        "buffer": scenario.buffer_packets,
        "packet_s": 8 * float(scenario.packet) / float(scenario.link.capacity),
        "packet_bytes": int(scenario.packet),
        "sizes": sizes_of_curve(scenario, answers),
        "regime": None if regime is None else {"name": regime.regime, "why": regime.why},
    }


def sizes_of_curve(
    scenario: forebay.Scenario, answers: Sequence[forebay.laws.LawAnswer]
) -> list[int]:
    """Return the buffers of the curve, packets: geometric about the laws' guess."""
    known = sorted(a.packets for a in answers if a.packets and a.assumptions_hold)
    guess = scenario.bdp_packets / math.sqrt(max(1, scenario.n_flows))
    middle = max(1.0, known[(len(known) - 1) // 2] if known else guess)
    low = max(1.0, middle / _SPAN)
    high = max(middle * _SPAN, low * 2 * BUFFERS)
    ratio = (high / low) ** (1 / (BUFFERS - 1))
    return sorted({round(low * ratio**index) for index in range(BUFFERS)})


def is_of(outcome: forebay.Outcome, scenario: forebay.Scenario) -> bool:
    """Return whether a run is of the question's own link, not of a smaller one of its kind."""
    asked = scenario.to_dict()
    parts = ("link", "traffic")
    return all(outcome.scenario[part] == asked[part] for part in parts)


def point_of(outcome: forebay.Outcome) -> dict[str, Any]:
    """Return the curves' values of one run."""
    link = outcome.links["bottleneck"]
    aim = _aim_packets(outcome.scenario)
    packets = link.buffer_packets if aim is None else aim
    return {**point(packets, link), "replications": len(outcome.provenance.seeds)}


def _aim_packets(asked: dict[str, Any]) -> int | None:
    """Return what an AQM aims at, in packets at line rate; None for a limit.

    A search varies the target of codel, fq_codel and pie, a twentieth of cake's rtt, RED's min.
    """
    scenario = forebay.Scenario.from_dict(asked, files=False)
    queue, packet = scenario.queue, float(scenario.packet)
    packet_s = 8 * packet / float(scenario.link.capacity)
    if asked["queue"].get("target") is not None:
        return round(float(queue.target or 0.0) / packet_s)
    if asked["queue"].get("rtt") is not None:
        return round(float(queue.rtt or 0.0) / _CAKE_TARGETS / packet_s)
    if asked["queue"].get("min") is not None:
        return round(float(queue.min or 0.0) / packet)
    return None


def point(packets: int, link: LinkOutcome) -> dict[str, Any]:
    """Return the curves' values at one buffer."""
    delay = link.queue_delay_s
    return {
        "packets": packets,
        "utilization": _metric(link.utilization),
        "loss_rate": _metric(link.loss_rate),
        "queue_delay_mean": _metric(None if delay is None else delay.mean),
        "queue_delay_p99": _metric(None if delay is None else delay.p99),
    }


def _metric(metric: Metric | None) -> dict[str, float | None] | None:
    if metric is None:
        return None
    return {"value": metric.value, "low": metric.low, "high": metric.high}


def sized(found: forebay.SizeResult) -> dict[str, Any]:
    """Return a sizing: its two sizes, its region, its sentences, and its curve."""
    from forebay.report.size import sentence

    best, least = found.recommended, found.buffer
    return {
        "recommended": None if best is None else best.model_dump(mode="json"),
        "least": None if least is None else least.model_dump(mode="json"),
        "guess": least is not None and least.is_guess,
        "status": found.exit_status,
        "headline": sentence(found),
        "sentences": _sentences(found),
        "assumptions": list(found.assumptions),
        "binding": list(found.binding),
        "region": [each.model_dump(mode="json") for each in found.region],
        "goals": [each.model_dump(mode="json") for each in found.goals],
        "relaxations": [each.model_dump(mode="json") for each in found.relaxations],
        "scaled": found.scaled is not None,
        "aims": found.aqm is not None,
        "queue": _aimed(found),
        "curve": [point(each.packets, each.link) for each in found.curve],
        "document": found.model_dump_json(by_alias=True),
    }


def _aimed(found: forebay.SizeResult) -> dict[str, str]:
    """Return what a question's queue has with the recommended aim of an AQM."""
    aqm = found.aqm
    if aqm is None or found.recommended is None:
        return {}
    queue = {"size": f"{aqm.limit_packets} packets"}
    if aqm.parameter == "min":
        return {**queue, "min": f"{aqm.min_bytes} B", "max": f"{aqm.max_bytes} B"}
    if aqm.discipline == "cake":  # its target follows from its rtt
        return {**queue, "rtt": f"{aqm.interval_s or 0.0:.9f} s"}
    return {**queue, "target": f"{aqm.target_s:.9f} s"}


def _sentences(found: forebay.SizeResult) -> list[str]:
    from forebay.report.size import brief, explained

    return [*brief(found)[2:], *explained(found)]


def wire_s(scenario: forebay.Scenario, packets: float) -> float:
    """Return how long so many of its packets take on the bottleneck, in seconds."""
    return packets * 8 * float(scenario.packet) / float(scenario.link.capacity)


def shorter(
    scenario: forebay.Scenario, packets: float, most_warmup_s: float | None = None
) -> forebay.Scenario | None:
    """Return the scenario with a run of so many packets, half of it warm-up; None if it has less.

    ``most_warmup_s`` is the longest warm-up.
    """
    measure, seconds = scenario.measure, wire_s(scenario, packets)
    if float(measure.warmup + measure.duration) <= seconds:
        return None
    warmup_s = seconds / 2 if most_warmup_s is None else min(most_warmup_s, seconds / 2)
    window = {"warmup": f"{warmup_s:.6f} s", "duration": f"{seconds - warmup_s:.6f} s"}
    return scenario.replace({"measure": window})


_MOST_PACKETS = 1_500_000
"""Packets of one replication: some 0.1 to 0.4 s of a processor."""
_ROUND_TRIPS, _LEAST_S = 15.0, 0.1
"""The shortest run: so many round trips, and so many seconds."""


@dataclass(frozen=True, slots=True)
class Coarse:
    """A scenario for one quick replication of each buffer.

    Attributes
    ----------
    is_whole : whether it is the question's own window.
    """

    scenario: forebay.Scenario
    is_whole: bool

    @property
    def words(self) -> str:
        """How long is simulated, for the page."""
        measure = self.scenario.measure
        if self.is_whole:
            return f"one replication of {measure.warmup + measure.duration:g} s"
        return (
            f"one replication of {measure.duration:.2g} s after {measure.warmup:.2g} s, shorter "
            "than the search's: flows may not have settled"
        )


def coarse(scenario: forebay.Scenario) -> Coarse | None:
    """Return a scenario whose replication is quick; None if its window would say nothing."""
    short = shorter(scenario, _MOST_PACKETS)
    if short is None:
        return Coarse(scenario, True)
    needed_s = max(_LEAST_S, wire_s(scenario, _ROUND_TRIPS * scenario.bdp_packets))
    return None if wire_s(scenario, _MOST_PACKETS) < needed_s else Coarse(short, False)


MEMORY = "1 GB"
_EVERY_S = 0.25
"""Progress is sent no more often."""
_CURVE_S = 4.0
"""No replication of a large link begins after so long: the search is worth more."""
Keep = Callable[[forebay.Scenario, forebay.SizeResult], None]


@dataclass
class Answer:
    """Work that answers one question.

    Attributes
    ----------
    pool : runs replications of the curve side by side.
    budget : time of the search; None is that of `forebay.size`, whose digits it then gives.
    keep : called with the answer.
    """

    scenario: forebay.Scenario
    jobs: int
    pool: Executor
    budget: str | None
    keep: Keep
    _told_at: float = field(default=0.0, init=False)

    def __call__(self, run: Run) -> None:
        """Send the curve, then the answer."""
        self._curve(run)
        self._size(run)

    def _curve(self, run: Run) -> None:
        """Send a point for each buffer of the curve, from one replication, side by side."""
        discipline = self.scenario.queue.discipline
        if discipline != "drop-tail":
            run.send("aims", {"discipline": discipline})
            return
        quick = coarse(self.scenario)
        if quick is None:
            run.send("too-large", {})
            return
        run.send("stage", {"stage": "coarse", "windows": quick.words})
        until = math.inf if quick.is_whole else time.monotonic() + _CURVE_S

        def one(packets: int) -> None:
            if time.monotonic() > until:
                return
            outcome = forebay.run(
                quick.scenario.with_buffer(packets), jobs=1, memory_limit=MEMORY,
                progress=run.goes_on,
            )  # fmt: skip
            run.send("point", {"stage": "coarse", **point_of(outcome)})

        sizes = sizes_of_curve(self.scenario, forebay.laws.for_scenario(self.scenario))
        try:
            list(self.pool.map(one, from_the_middle(sizes)))
        except forebay.TooMuchMemory:
            run.send("too-large", {})

    def _size(self, run: Run) -> None:
        """Send what `forebay.size` runs, and its answer."""
        run.send("stage", {"stage": "sizing"})

        def progress(fraction: float) -> None:
            run.goes_on(fraction)
            if time.monotonic() > self._told_at + _EVERY_S:
                self._told_at = time.monotonic()
                run.send("progress", {"fraction": fraction})

        def observe(outcome: forebay.Outcome) -> None:
            if is_of(outcome, self.scenario):
                run.send("point", {"stage": "fine", **point_of(outcome)})

        try:
            found = forebay.size(
                self.scenario, jobs=self.jobs, memory_limit=MEMORY, budget=self.budget,
                progress=progress, observe=observe,
                expect=lambda seconds: run.send("expect", {"seconds": seconds}),
            )  # fmt: skip
        except forebay.SizingError as error:
            if error.code != "no-goals":
                raise
            wrong = "no goal is ticked, so every buffer is large enough"
            raise Refused(wrong, "tick one", "goals") from None
        else:
            self.keep(self.scenario, found)
            run.send("sized", sized(found))


def from_the_middle(sizes: list[int]) -> list[int]:
    """Return sizes in the order in which they tell most: the middle, then every other, the rest."""
    middle = len(sizes) // 2
    first = {middle, *range(middle % 2, len(sizes), 2)}
    order = [middle, *sorted(first - {middle}), *(i for i in range(len(sizes)) if i not in first)]
    return [sizes[index] for index in order]


def warm_up() -> None:
    """Size and simulate a link that takes no time."""
    link, traffic = forebay.Link(rate="1 Mbit/s"), (forebay.Long(flows=1, start="0 s"),)
    measure = forebay.Measure(warmup="0 s", duration="1 s")
    goals = forebay.Goals(utilization=0.5)
    easy = forebay.Scenario(link=link, traffic=traffic, measure=measure, goals=goals)
    laws_of(easy)
    point_of(forebay.run(easy))
    sized(forebay.size(easy, seeds=2, max_seeds=2))
