"""Decides which law governs a link, with the reason and what would change it.

A law governs only if the kind of traffic fits its assumptions, and simulations agree with it within
a known factor. The factors are those of docs/explanation/which-law-governs.md
(`benches/which_law.py`, `benches/which_kind.py`); they are measured, not derived. From the papers
are: a window of two (A, §5.1.1), windows that the receiver limits (A, §4), a tenth of the traffic
in long flows (A, §5.1.4).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType

from forebay.catalogue import DISCIPLINES, kinds_that
from forebay.laws import general_decrease, mix, single_flow, synchronized, utilization
from forebay.laws.assumptions import come_and_go
from forebay.laws.incast import first_windows
from forebay.laws.law import Law
from forebay.laws.quantities import (
    FULL,
    ack_queues,
    bursts_only,
    halves,
    long_and_short,
    other_queues,
    paced,
    path_window,
    share,
    short_share,
)
from forebay.scenario import (
    COMPLETING_KINDS,
    OPEN_LOOP_KINDS,
    Duration,
    Long,
    Requests,
    Scenario,
    Standing,
    expect_scenario,
)
from forebay.words import Fact

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
    why, would_change : what users are told; ``str()`` of each is whole sentences.
    times_simulation : between which factors of the simulated buffer the law's lies, for a goal on
        utilization alone; None where no such factors are known.
    """

    regime: str
    law: str | None
    why: Fact
    would_change: Fact
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


def _regime(name: str, law: str | None = None, said: str = "why", **values: object) -> Regime:
    """Make a regime; which of its sentences says why may differ."""
    simulate = Fact("regime.simulate") if law is None else ""
    why = Fact(f"regime.{name}.{said}", **values)
    return Regime(name, law, why, Fact(f"regime.{name}.change", simulate=simulate))


def _link_or_queue(scenario: Scenario) -> Regime | None:
    """A link without traffic, or one whose queue or policer no law describes."""
    policer = scenario.link.policer
    if not scenario.crossing:
        return _regime("no traffic")
    if scenario.queue.classes:
        return _regime("class queues")
    if policer is not None and policer.rate < scenario.link.capacity:
        return _regime("policed", rate=policer.rate, burst=policer.depth)
    return _regime("shared memory") if scenario.queue.alpha is not None else None


def _together(scenario: Scenario) -> Regime | None:
    asks = any(isinstance(group, Requests) for group in scenario.crossing)
    if not asks or _kinds(scenario) & _LASTING:
        return None
    windows = first_windows(scenario)
    assert windows is not None, "there are requests"
    longer = Fact("regime.longer-answer", packets=windows.answer)
    return _regime(
        "workers that answer together", windows=windows,
        longer=longer if windows.answer > windows.window else "",
    )  # fmt: skip


def _uncongested(scenario: Scenario) -> Regime | None:
    law = _bursts().LAW.name if _bursts_govern(scenario) else None
    rate, groups = scenario.link.capacity, scenario.crossing
    if all(isinstance(t, Standing) for t in groups):
        most = sum(t.peak(rate) for t in groups if isinstance(t, Standing))
        if most <= rate:
            return _regime("uncongested", law, "sources", most_mbps=most / 1e6)
    limits = [t.flows * t.max_window for t in groups if isinstance(t, Long) and t.max_window]
    if len(limits) == len(groups) and sum(limits) <= scenario.bdp_packets:
        path = scenario.bdp_packets
        return _regime("uncongested", law, "windows", packets=sum(limits), path=path)
    load = share(scenario, _DATAGRAMS)
    if _kinds(scenario) <= _DATAGRAMS and load < FULL:
        return _regime("uncongested", law, "datagrams", percent=100 * load)
    return None


def _unresponsive(scenario: Scenario) -> Regime | None:
    """Traffic without response to losses, a managed queue, or controls without a sawtooth."""
    load, discipline = share(scenario, OPEN_LOOP_KINDS), scenario.queue.discipline
    if load >= FULL:
        return _regime("overloaded", percent=100 * load, lost=100 * (1 - 1 / load))
    if _kinds(scenario) <= OPEN_LOOP_KINDS:
        return _regime("open-loop traffic", percent=100 * load)
    if not DISCIPLINES[discipline].drops_tail:
        said = "head-drop" if discipline == "pfifo_head_drop" else "why"
        return _regime("managed queue", None, said, discipline=discipline)
    names = paced(scenario)
    if not names:
        return None
    others = {n for t in scenario.crossing for n in getattr(t, "shares", {})} - set(names)
    beside = Fact("regime.beside", others=", ".join(sorted(others))) if others else ""
    return _regime("paced by a model", controls=" and ".join(names), beside=beside)


def _ending(scenario: Scenario) -> Regime | None:
    """No significant long flows, and some flows that end."""
    kinds, others = _kinds(scenario), COMPLETING_KINDS | OPEN_LOOP_KINDS
    load = share(scenario, others)
    if not kinds & COMPLETING_KINDS or (kinds & _LASTING and load < 1.0 - LONG_FLOWS_MATTER):
        return None
    if not kinds & _WAITING and load >= FULL:
        return _regime("overloaded", None, "ending", percent=100 * load)
    fresh = _in_slow_start(scenario)
    if kinds <= _BURSTS and fresh and _bursts_govern(scenario):
        return _regime("short flows only", _bursts().LAW.name, percent=100 * load)
    said = "full" if fresh else "longer"
    said = "transfers" if fresh and "transfers" in kinds else said
    said = "beside-long" if kinds & _LASTING else said
    said = "users" if kinds & _WAITING else said
    return _regime("flows that end", None, said, percent=100 * load)


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
        return _regime("real-time mixed", percent=100 * real_time)
    if ending > SHORT_FLOWS_MATTER:
        known = 100 * SHORT_FLOWS_MATTER
        return _regime("long flows beside others", percent=100 * ending, known=known)
    if come_and_go(scenario) is not None:
        return _regime("flows that come and go")
    links = ack_queues(scenario)
    return _regime("ACKs queue", links=", ".join(links)) if links else None


def _below_ten(scenario: Scenario) -> Regime | None:
    n, halving = scenario.n_flows, halves(scenario)
    known = general_decrease.covers(scenario)
    gentle = Fact("regime.gentle") if known else ""
    if n <= 1:
        law = single_flow.LAW if halving else general_decrease.LAW
        return _regime(
            "one flow", law.name if halving or known else None, halves=halving,
            bdp=scenario.bdp_packets, factors=Fact("regime.one-halving") if halving else gentle,
        )  # fmt: skip
    if n >= SAWTOOTHS_ADD:
        return None
    factors = Fact("regime.few-halving") if halving else gentle or Fact("regime.few-others")
    law = general_decrease.LAW if known and not halving else synchronized.LAW
    others = _others(scenario)
    return _regime("few flows", law.name, flows=_flows(scenario), factors=factors, others=others)


def _many(scenario: Scenario) -> Regime:
    low, high = _round_trips(scenario)
    flows, window = _flows(scenario), path_window(scenario)
    if low >= high:
        return _regime("round trips alike", flows=flows)
    if window < SMALLEST_WINDOW:
        return _regime("windows below a packet", flows=flows)
    mixed, halving = long_and_short(scenario), halves(scenario)
    most = (4.0 if high < 1.5 * low else 2.1) if halving else (4.5 if high < 1.5 * low else 2.6)
    least = 0.8 if halving else 1.2
    regime = _regime(
        "flows out of step", MIX if mixed else utilization.LAW.name, flows=flows, least=least,
        most=most, halves=halving, others=_others(scenario),
        timeouts=Fact("regime.timeouts") if window <= 2.0 else "",
    )  # fmt: skip
    return regime if mixed else replace(regime, times_simulation=(least, most))


def _flows(scenario: Scenario) -> Fact:
    low, high = _round_trips(scenario)
    trips = Fact("regime.one-trip" if low == high else "regime.trips", low=low, high=high)
    return Fact("regime.flows", n=scenario.n_flows, window=path_window(scenario), trips=trips)


def _others(scenario: Scenario) -> Fact:
    """Return what else shares the link, or limits its flows."""
    short, real = short_share(scenario), share(scenario, OPEN_LOOP_KINDS)
    queues = other_queues(scenario)
    return Fact(
        "regime.others",
        short=Fact("regime.short", percent=100 * short) if short else "",
        real_time=Fact("regime.real-time", percent=100 * real) if real else "",
        queues=Fact("regime.queues", links=", ".join(queues)) if queues else "",
    )


def _round_trips(scenario: Scenario) -> tuple[Duration, Duration]:
    """Shortest and longest propagation RTT of the long flows."""
    groups = scenario.persistent
    return min(t.rtt.low for t in groups), max(t.rtt.high for t in groups)


def _kinds(scenario: Scenario) -> set[str]:
    return {t.kind for t in scenario.crossing}


_JUDGES: tuple[Callable[[Scenario], Regime | None], ...] = (
    _link_or_queue, _together, _uncongested, _unresponsive, _ending, _long_beside_others,
    _below_ten, _many,
)  # fmt: skip
