"""Decides which law governs a link, with the reason and what would change it.

A law governs only if the kind of traffic fits its assumptions, and simulations agree with it within
a known factor. The factors are those of docs/explanation/which-law-governs.md
(`benches/which_law.py`, `benches/which_kind.py`); they are measured, not derived. From the papers
are: a window of two (A, §5.1.1), windows that the receiver limits (A, §4), a tenth of the traffic
in long flows (A, §5.1.4).
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from forebay.catalogue import DISCIPLINES, kinds_that
from forebay.laws import general_decrease, mix, single_flow, synchronized, utilization
from forebay.laws import regime_words as words
from forebay.laws.assumptions import come_and_go
from forebay.laws.incast import first_windows
from forebay.laws.law import Law
from forebay.laws.quantities import (
    FULL,
    ack_queues,
    bursts_only,
    halves,
    long_and_short,
    paced,
    path_window,
    share,
)
from forebay.scenario import COMPLETING_KINDS, OPEN_LOOP_KINDS, Requests, Scenario, expect_scenario

LONG_FLOWS_MATTER = 0.1
"""Share of the traffic from which long flows determine the buffer (A, §5.1.4)."""
REAL_TIME_MATTERS = 0.2
"""Real-time share of the link up to which the TCP flows' law stayed as precise."""
SHORT_FLOWS_MATTER = 0.4
"""The same for the share of short flows."""
SAWTOOTHS_ADD = 10
"""Flows from which their sum counts as normal; eq. 6 is a weak bound for fewer."""
MIX = mix.LAW.name
_LASTING = kinds_that(lambda kind: kind.lasts)
_WAITING = kinds_that(lambda kind: kind.waits_for_itself)
_DATAGRAMS = kinds_that(lambda kind: kind.single_datagrams)
_BURSTS = kinds_that(lambda kind: kind.in_bursts and not kind.lasts)
SMALLEST_WINDOW = 0.5
"""Path window in packets for each flow; nothing was compared below it."""


@dataclass(frozen=True, slots=True)
class Regime:
    """The regime of a link, and the law that covers it.

    Attributes
    ----------
    regime : "no traffic", "class queues", "policed", "shared memory", "uncongested", "overloaded",
        "open-loop traffic", "managed queue", "workers that answer together", "paced by a model",
        "short flows only", "flows that end", "real-time mixed", "long flows beside others",
        "flows that come and go", "ACKs queue", "one flow", "few flows", "round trips alike",
        "windows below a packet" or "flows out of step".
    law : name of the governing law, None if no published law covers the link.
    why, would_change : sentences for users.
    times_simulation : between which factors of the simulated buffer the law's lies, for a goal on
        utilization alone; None where no such factors are known.
    """

    regime: str
    law: str | None
    why: str
    would_change: str
    times_simulation: tuple[float, float] | None = None


def regime_of(scenario: Scenario) -> Regime:
    """Return the regime of `scenario`: the first one that fits."""
    expect_scenario(scenario)
    for judge in _JUDGES:
        regime = judge(scenario)
        if regime is not None:
            return regime
    raise AssertionError("the last regime fits all")


def governing_law(scenario: Scenario) -> Law | None:
    """The law of `regime_of`; None if no published law covers the link."""
    name = regime_of(scenario).law
    return None if name is None else _HEADLINES.get(name) or _bursts().LAW


_HEADLINES = {
    law.name: law
    for law in (
        single_flow.LAW, general_decrease.LAW, synchronized.LAW, utilization.LAW, mix.LAW,
    )
}  # fmt: skip
"""Laws that can govern, by name. That of bursts is imported at first use."""


def _link_or_queue(scenario: Scenario) -> Regime | None:
    """A link without traffic, or one whose queue or policer no law describes."""
    policer = scenario.link.policer
    if not scenario.crossing:
        return Regime("no traffic", None, words.NO_TRAFFIC, words.NO_TRAFFIC_CHANGE)
    if scenario.queue.classes:
        return Regime("class queues", None, words.CLASS_QUEUES, words.CLASS_QUEUES_CHANGE)
    if policer is not None and policer.rate < scenario.link.capacity:
        return Regime("policed", None, words.policed(policer), words.POLICED_CHANGE)
    if scenario.queue.alpha is not None:
        return Regime("shared memory", None, words.SHARED, words.SHARED_CHANGE)
    return None


def _together(scenario: Scenario) -> Regime | None:
    asks = any(isinstance(group, Requests) for group in scenario.crossing)
    if not asks or _kinds(scenario) & _LASTING:
        return None
    windows = first_windows(scenario)
    assert windows is not None, "there are requests"
    return Regime("workers that answer together", None, words.together(windows), words.TOGETHER)


def _uncongested(scenario: Scenario) -> Regime | None:
    why = words.cannot_fill(scenario)
    if why is None and _kinds(scenario) <= _DATAGRAMS and share(scenario, _DATAGRAMS) < FULL:
        why = words.datagrams(share(scenario, _DATAGRAMS))
    if why is None:
        return None
    law = _bursts().LAW.name if _bursts_govern(scenario) else None
    return Regime("uncongested", law, why, words.UNCONGESTED_CHANGE)


def _unresponsive(scenario: Scenario) -> Regime | None:
    """Traffic without response to losses, a managed queue, or controls without a sawtooth."""
    load, discipline = share(scenario, OPEN_LOOP_KINDS), scenario.queue.discipline
    if load >= FULL:
        return Regime("overloaded", None, words.too_much(load), words.LOWER_LOAD)
    if _kinds(scenario) <= OPEN_LOOP_KINDS:
        return Regime("open-loop traffic", None, words.varying(load), words.VARYING_CHANGE)
    if not DISCIPLINES[discipline].drops_tail:
        return Regime("managed queue", None, words.managed(discipline), words.MANAGED_CHANGE)
    names = paced(scenario)
    if names:
        return Regime("paced by a model", None, words.paced(scenario, names), words.PACED_CHANGE)
    return None


def _ending(scenario: Scenario) -> Regime | None:
    """No significant long flows, and some flows that end."""
    kinds, others = _kinds(scenario), COMPLETING_KINDS | OPEN_LOOP_KINDS
    load = share(scenario, others)
    if not kinds & COMPLETING_KINDS or (kinds & _LASTING and load < 1.0 - LONG_FLOWS_MATTER):
        return None
    if not kinds & _WAITING and load >= FULL:
        return Regime("overloaded", None, words.short_overload(load), words.LOWER_LOAD)
    fresh = _in_slow_start(scenario)
    if not kinds <= _BURSTS or not fresh or not _bursts_govern(scenario):
        why = words.ending(scenario, load, in_slow_start=fresh)
        return Regime("flows that end", None, why, words.ENDING_CHANGE)
    why = words.bursts(load)
    return Regime("short flows only", _bursts().LAW.name, why, words.BURSTS_CHANGE)


def _in_slow_start(scenario: Scenario) -> bool:
    from forebay.laws import short_flows as bursts

    broken = (bursts.in_slow_start, bursts.window_not_reached)
    return not any(check(scenario) for check in broken) and bursts.small_transfers(scenario)


def _bursts_govern(scenario: Scenario) -> bool:
    return bursts_only(scenario) and bool(_bursts().governs(scenario))


def _bursts() -> ModuleType:
    """The module of the law of bursts, imported at first use because few links need it."""
    from forebay.laws import burst_law

    return burst_law


def _long_beside_others(scenario: Scenario) -> Regime | None:
    """Long flows that other traffic, their own schedule or a queue of ACKs disturbs."""
    real_time, ending = share(scenario, OPEN_LOOP_KINDS), share(scenario, COMPLETING_KINDS)
    if real_time > REAL_TIME_MATTERS:
        why = words.real_time(real_time)
        return Regime("real-time mixed", None, why, words.REAL_TIME_CHANGE)
    if ending > SHORT_FLOWS_MATTER:
        why = words.ending_with_long(ending, SHORT_FLOWS_MATTER)
        return Regime("long flows beside others", None, why, words.FEWER_ENDING)
    if come_and_go(scenario) is not None:
        return Regime("flows that come and go", None, words.COME_AND_GO, words.COME_AND_GO_CHANGE)
    links = ack_queues(scenario)
    if links:
        return Regime("ACKs queue", None, words.acks(links), words.ACKS_CHANGE)
    return None


def _below_ten(scenario: Scenario) -> Regime | None:
    n, halving = scenario.n_flows, halves(scenario)
    known = general_decrease.covers(scenario)
    if n <= 1:
        law = single_flow.LAW if halving else general_decrease.LAW
        why = words.one(scenario, halving or known)
        return Regime("one flow", law.name if halving or known else None, why, words.ONE_CHANGE)
    if n >= SAWTOOTHS_ADD:
        return None
    gentle = not halving and known
    law = general_decrease.LAW if gentle else synchronized.LAW
    return Regime("few flows", law.name, words.few(scenario, gentle), words.FEW_CHANGE)


def _many(scenario: Scenario) -> Regime:
    low, high = words.round_trips(scenario)
    if low >= high:
        return Regime("round trips alike", None, words.alike(scenario), words.ALIKE_CHANGE)
    if path_window(scenario) < SMALLEST_WINDOW:
        return Regime("windows below a packet", None, words.tiny(scenario), words.TINY_CHANGE)
    mixed = long_and_short(scenario)
    law = MIX if mixed else utilization.LAW.name
    factors = None if mixed else words.times_simulation(scenario)
    return Regime("flows out of step", law, words.many(scenario), words.MANY_CHANGE, factors)


def _kinds(scenario: Scenario) -> set[str]:
    return {t.kind for t in scenario.crossing}


_JUDGES: tuple[Callable[[Scenario], Regime | None], ...] = (
    _link_or_queue, _together, _uncongested, _unresponsive, _ending, _long_beside_others,
    _below_ten, _many,
)  # fmt: skip
