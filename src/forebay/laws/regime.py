"""Decides which law governs a link, with the reason and what would change it.

A law governs only if the kind of traffic fits its assumptions, and simulations agree with it within
a known factor. The factors are those of docs/explanation/which-law-governs.md
(`benches/which_law.py`, `benches/which_kind.py`); they are measured, not derived. From the papers
are: a window of two (A, §5.1.1), windows that the receiver limits (A, §4), a tenth of the traffic
in long flows (A, §5.1.4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forebay.catalogue import DISCIPLINES, kinds_that
from forebay.laws import general_decrease, single_flow, synchronized, utilization
from forebay.laws import regime_words as words
from forebay.laws.assumptions import come_and_go
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
from forebay.scenario import COMPLETING_KINDS, OPEN_LOOP_KINDS, Requests, expect_scenario

if TYPE_CHECKING:
    from forebay.laws.law import Law
    from forebay.scenario import Scenario

LONG_FLOWS_MATTER = 0.1
"""Share of the traffic from which long flows determine the buffer (A, §5.1.4)."""
REAL_TIME_MATTERS = 0.2
"""Real-time share of the link up to which the TCP flows' law stayed as precise."""
SHORT_FLOWS_MATTER = 0.4
"""The same for the share of short flows."""
SAWTOOTHS_ADD = 10
"""Flows from which their sum counts as normal; eq. 6 is a weak bound for fewer."""
MIX = "appenzeller-2004/mix"
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
    if name is None or name in _HEADLINES:
        return _HEADLINES.get(name)
    law: Law = _mix().LAW if name == MIX else _bursts().LAW
    return law


_HEADLINES: dict[str | None, Law] = {
    law.name: law
    for law in (
        single_flow.LAW, general_decrease.LAW, synchronized.LAW, utilization.LAW,
    )
}  # fmt: skip
"""Laws that can govern, by name. Those of bursts and of mixes are imported at first use."""


def _no_traffic(scenario: Scenario) -> Regime | None:
    if scenario.crossing:
        return None
    return Regime("no traffic", None, words.NO_TRAFFIC, words.NO_TRAFFIC_CHANGE)


def _class_queues(scenario: Scenario) -> Regime | None:
    if not scenario.queue.classes:
        return None
    return Regime("class queues", None, words.CLASS_QUEUES, words.CLASS_QUEUES_CHANGE)


def _policed(scenario: Scenario) -> Regime | None:
    policer = scenario.link.policer
    if policer is None or policer.rate >= scenario.link.capacity:
        return None
    return Regime("policed", None, words.policed(policer), words.POLICED_CHANGE)


def _shared(scenario: Scenario) -> Regime | None:
    if scenario.queue.alpha is None:
        return None
    return Regime("shared memory", None, words.SHARED, words.SHARED_CHANGE)


def _together(scenario: Scenario) -> Regime | None:
    if not any(isinstance(group, Requests) for group in scenario.crossing):
        return None
    if _kinds(scenario) & _LASTING:
        return None
    from forebay.laws.incast import first_windows

    found = first_windows(scenario)
    assert found is not None, "there are requests"
    return Regime("workers that answer together", None, words.together(found), words.TOGETHER)


def _uncongested(scenario: Scenario) -> Regime | None:
    why = words.cannot_fill(scenario)
    if why is None and _kinds(scenario) <= _DATAGRAMS and share(scenario, _DATAGRAMS) < FULL:
        why = words.datagrams(share(scenario, _DATAGRAMS))
    if why is None:
        return None
    law = _bursts().LAW.name if _bursts_govern(scenario) else None
    return Regime("uncongested", law, why, words.UNCONGESTED_CHANGE)


def _open_loop(scenario: Scenario) -> Regime | None:
    """Traffic without response to losses: all of it, or more than the link's rate."""
    load = share(scenario, OPEN_LOOP_KINDS)
    if load >= FULL:
        return Regime("overloaded", None, words.too_much(load), words.LOWER_LOAD)
    if not _kinds(scenario) <= OPEN_LOOP_KINDS:
        return None
    return Regime("open-loop traffic", None, words.varying(load), words.VARYING_CHANGE)


def _managed(scenario: Scenario) -> Regime | None:
    discipline = scenario.queue.discipline
    if DISCIPLINES[discipline].drops_tail:
        return None
    return Regime("managed queue", None, words.managed(discipline), words.MANAGED_CHANGE)


def _paced(scenario: Scenario) -> Regime | None:
    names = paced(scenario)
    if not names:
        return None
    return Regime("paced by a model", None, words.paced(scenario, names), words.PACED_CHANGE)


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
    from forebay.laws import burst_assumptions as bursts

    broken = (bursts.in_slow_start, bursts.window_not_reached)
    return not any(check(scenario) for check in broken) and bursts.small_transfers(scenario)


def _bursts_govern(scenario: Scenario) -> bool:
    return bursts_only(scenario) and bool(_bursts().governs(scenario))


def _bursts() -> Any:
    """The law of bursts, imported at first use because few links need it."""
    from forebay.laws import burst_law

    return burst_law


def _mix() -> Any:
    """The law of long and short flows, imported at first use because few links need it."""
    from forebay.laws import mix

    return mix


def _mixed(scenario: Scenario) -> Regime | None:
    load = share(scenario, OPEN_LOOP_KINDS)
    if load <= REAL_TIME_MATTERS:
        return None
    return Regime("real-time mixed", None, words.real_time(load), words.REAL_TIME_CHANGE)


def _many_that_end(scenario: Scenario) -> Regime | None:
    load = share(scenario, COMPLETING_KINDS)
    if load <= SHORT_FLOWS_MATTER:
        return None
    why = words.ending_with_long(load, SHORT_FLOWS_MATTER)
    return Regime("long flows beside others", None, why, words.FEWER_ENDING)


def _come_and_go(scenario: Scenario) -> Regime | None:
    if come_and_go(scenario) is None:
        return None
    return Regime("flows that come and go", None, words.COME_AND_GO, words.COME_AND_GO_CHANGE)


def _acks(scenario: Scenario) -> Regime | None:
    links = ack_queues(scenario)
    if not links:
        return None
    return Regime("ACKs queue", None, words.acks(links), words.ACKS_CHANGE)


def _one(scenario: Scenario) -> Regime | None:
    if scenario.n_flows > 1:
        return None
    law = single_flow.LAW if halves(scenario) else general_decrease.LAW
    known = law is single_flow.LAW or general_decrease.covers(scenario)
    why = words.one(scenario, known)
    return Regime("one flow", law.name if known else None, why, words.ONE_CHANGE)


def _few(scenario: Scenario) -> Regime | None:
    if scenario.n_flows >= SAWTOOTHS_ADD:
        return None
    gentle = not halves(scenario) and general_decrease.covers(scenario)
    law = general_decrease.LAW if gentle else synchronized.LAW
    return Regime("few flows", law.name, words.few(scenario, gentle), words.FEW_CHANGE)


def _alike(scenario: Scenario) -> Regime | None:
    low, high = words.round_trips(scenario)
    if low < high:
        return None
    return Regime("round trips alike", None, words.alike(scenario), words.ALIKE_CHANGE)


def _tiny(scenario: Scenario) -> Regime | None:
    if path_window(scenario) >= SMALLEST_WINDOW:
        return None
    return Regime("windows below a packet", None, words.tiny(scenario), words.TINY_CHANGE)


def _many(scenario: Scenario) -> Regime:
    law = MIX if long_and_short(scenario) else utilization.LAW.name
    found = None if law == MIX else words.times_simulation(scenario)
    return Regime("flows out of step", law, words.many(scenario), words.MANY_CHANGE, found)


def _kinds(scenario: Scenario) -> set[str]:
    return {t.kind for t in scenario.crossing}


_JUDGES: tuple[Callable[[Scenario], Regime | None], ...] = (
    _no_traffic, _class_queues, _policed, _shared, _together, _uncongested, _open_loop, _managed,
    _paced,
    _ending, _mixed, _many_that_end, _come_and_go, _acks, _one, _few, _alike, _tiny, _many,
)  # fmt: skip
