"""What an answer says beside its numbers: what was assumed, late flows, rates that vary.

A field counts as chosen if it was written; of every other that moves an answer it is said what was
assumed instead.
"""

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import Any

import numpy as np

from forebay.catalogue.kinds import WITHOUT_SEEDS
from forebay.laws.assumptions import varied_rtt
from forebay.outcome import LinkRates, Outcome
from forebay.scenario import (
    BOTTLENECK,
    Duration,
    Link,
    Long,
    Scenario,
    Short,
    Standing,
    Traffic,
    Transfers,
)
from forebay.scenario.quantity import Rate
from forebay.scenario.rate_trace import RateTrace
from forebay.scenario.source import Sized, Stopping
from forebay.scenario.tcp import Tcp
from forebay.scenario.transfers import TransferTable
from forebay.search.scaling import FASTER


def remarks(
    scenario: Scenario, seeds: Sequence[int], measured: Outcome | None = None
) -> dict[str, Any]:
    """Return the fields of an answer that are not measured; see `late_starts` for ``measured``."""
    ran = scenario if measured is None else measured.asked
    said: dict[str, Any] = {
        "assumptions": (*assumed(scenario, ran), *_of_hosts(scenario, measured))
    }
    if any(_may_be_late(group, scenario.measure.warmup) for group in scenario.traffic):
        said["late_starts"] = late_starts(scenario, seeds, measured)
    if any(link.rates is not None for link in (scenario.link, *scenario.links)):
        said["rates"] = link_rates(scenario, measured)
    return said


def _of_hosts(scenario: Scenario, measured: Outcome | None) -> tuple[str, ...]:
    """Return what a run of a network, which lists links between routers, says of the others."""
    topology = scenario.topology
    if topology is None or measured is None or measured.engine == "network":
        return ()
    from forebay.topology.building import ACCESS

    if ACCESS not in {links.name for links in topology.classes}:
        return ()
    return ("hosts' own links drop too and are not listed: see the loss of the classes",)


def _may_be_late(group: Traffic, warmup: Duration) -> bool:
    starts_late = isinstance(group, Standing) and group.start.high > warmup
    stops = isinstance(group, Stopping) and group.stop is not None
    return starts_late or stops or group.kind in ("short", "transfers")


def assumed(scenario: Scenario, ran: Scenario | None = None) -> tuple[str, ...]:
    """Return every default that nobody chose and that moves the answer, in words.

    Parameters
    ----------
    ran : the scenario of its runs, of which a search may begin the flows earlier.
    """
    if scenario.topology is None:
        return assumptions(scenario, ran)
    from forebay.topology.building import assumed as of_network

    return (*map(str, of_network(scenario)), *assumptions(scenario, ran))


_PS_PER_S = 1e12
_ENOUGH = 3.0
"""Expected number of transfers above which a window has one in 95 of 100 runs."""
_UNEVEN = 0.1
"""Half the width of a load's 95 % band, as a share of it, from which on an answer says it."""


def late_starts(
    scenario: Scenario, seeds: Sequence[int], measured: Outcome | None = None
) -> tuple[str, ...]:
    """Return a line for each class of which flows start after the warm-up, or end with it.

    Transfers may start at any time: they have a line if some start after the end, if the window
    may have none, or if it has too few to have their load.

    Parameters
    ----------
    measured : an answer whose window may differ from the scenario's, because it was lengthened.
    """
    measure = (scenario if measured is None else measured.asked).measure
    warmup, duration = measure.warmup, measure.duration
    lines = list(_lines(scenario, seeds, warmup, Duration(warmup + duration)))
    if measured is not None and measured.engine not in WITHOUT_SEEDS and scenario.topology is None:
        lines += _few(scenario, duration)
        lines += _uneven(scenario, len(seeds), duration)
    return tuple(lines)


def _lines(
    scenario: Scenario, seeds: Sequence[int], warmup: Duration, end: Duration
) -> Iterator[str]:
    for index, group in enumerate(scenario.traffic):
        if isinstance(group, Transfers) and group.table is not None:
            yield from _of_table(index, group.table, end)
        if isinstance(group, Stopping) and group.stop is not None and group.stop.high <= warmup:
            yield (
                f"all flows of traffic.{index} stop by {group.stop.high}, within the warm-up of "
                f"{warmup}: write a later stop, or a shorter measure.warmup"
            )
        if not isinstance(group, Standing) or group.start.high <= warmup:
            continue
        if scenario.topology is None:
            late, never = _drawn(group, index, seeds, warmup, end)
        else:  # a network draws its connections by number of hops
            late, never = _expected(group, warmup), _expected(group, end)
        if late != "0":
            yield _line(index, group, late, never, warmup)


def _of_table(index: int, table: TransferTable, end: Duration) -> Iterator[str]:
    never = int((table.start_ps >= round(end * _PS_PER_S)).sum())
    if never:
        yield (
            f"{never} of {len(table)} transfers of traffic.{index} do not start before the run "
            f"ends at {end}: write a longer measure.duration"
        )


def _few(scenario: Scenario, duration: Duration) -> Iterator[str]:
    for index, group in enumerate(scenario.traffic):
        is_drawn = isinstance(group, Short) or (
            isinstance(group, Transfers) and group.table is None
        )
        expected = group.starting_in(float(duration), scenario.link.capacity)
        if is_drawn and expected < _ENOUGH:
            yield (
                f"a window of {duration} has {expected:.2g} transfers of traffic.{index} on "
                "average, and often none: write a longer measure.duration"
            )


def _uneven(scenario: Scenario, seeds: int, duration: Duration) -> Iterator[str]:
    """Yield a line for each class of whose load a few large transfers decide."""
    windows = f"1 window of {duration} has" if seeds == 1 else f"{seeds} windows of {duration} have"
    for index, group in enumerate(scenario.traffic):
        squared = _mean_square(group)
        if squared < 2.0:
            continue
        expected = seeds * group.starting_in(float(duration), scenario.link.capacity)
        band = 1.96 * sqrt(squared / expected)
        if expected >= _ENOUGH and band > _UNEVEN:
            yield (
                f"the load of traffic.{index} may be off by about {100 * band:.0f} % of its mean: "
                f"{windows} {float(f'{expected:.3g}'):.0f} transfers, and few of them have most "
                "of the bytes; write a longer measure.duration, or more seeds"
            )


def _mean_square(group: object) -> float:
    """Return the mean of a transfer's squared size over the square of its mean; 0 where unknown."""
    if isinstance(group, Transfers) and group.size is not None:
        return group.size.mean_square
    if isinstance(group, Short):
        return group.length.in_packets(group.packet).mean_square
    return 0.0


def _drawn(
    group: Standing, index: int, seeds: Sequence[int], warmup: Duration, end: Duration
) -> tuple[str, str]:
    """Return how many flows start after the warm-up, and how many after the end."""
    from forebay.workload.open_loop import starts

    times = [starts(group, index, seed) for seed in seeds]
    return (
        _range([int((start > round(warmup * _PS_PER_S)).sum()) for start in times]),
        _range([int((start >= round(end * _PS_PER_S)).sum()) for start in times]),
    )


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def _expected(group: Standing, until: Duration) -> str:
    late = round(group.flows * (1.0 - group.start.share_up_to(until)))
    return f"about {late}" if late else "0"


def _line(index: int, group: Standing, late: str, never: str, warmup: Duration) -> str:
    begun = "" if never == "0" else f", {never} of them not before the run ends"
    hint = "they are measured from their start on"
    if "start" not in group.model_fields_set:  # without a warm-up
        hint = "write a start of 0 s, or a longer measure.warmup"
    return (
        f"{late} of {int(group.flows)} flows of traffic.{index} start after the warm-up of "
        f"{warmup}{begun}: {hint}"
    )


_SHARES = (0.01, 0.05, 0.5, 0.95, 0.99)


def link_rates(scenario: Scenario, measured: Outcome | None = None) -> dict[str, LinkRates]:
    """Return the rates of each link whose rate varies, by its name.

    Parameters
    ----------
    measured : an answer whose window may differ from the scenario's, because it was lengthened.
    """
    links: dict[str, Link] = {BOTTLENECK: scenario.link}
    links |= {other.name: other for other in scenario.links}
    measure = (scenario if measured is None else measured.asked).measure
    begin, end = float(measure.warmup), float(measure.warmup + measure.duration)
    rates = {}
    for name, link in links.items():
        if (trace := link.rates) is not None:
            before, after = trace.bits((begin, end))
            seen = (after - before) / (end - begin)
            rates[name] = _rates(trace, end, mean=float(link.capacity), seen=seen)
    return rates


def _rates(trace: RateTrace, run_s: float, *, mean: float, seen: float) -> LinkRates:
    """Return the rates over the period; over the run, where the trace does not repeat."""
    length = trace.length_s if trace.repeat else run_s
    starts, rates = (np.array(column, dtype=float) for column in zip(*trace.rates, strict=True))
    rates = rates[starts < length]
    spans = np.diff(np.append(starts[starts < length], length))
    pairs = list(zip(spans.tolist(), rates.tolist(), strict=True))
    order = np.argsort(rates, kind="stable")
    until = np.cumsum(spans[order]) / length
    quantiles = rates[order][np.searchsorted(until, _SHARES, side="left").clip(max=len(rates) - 1)]
    p1, p5, p50, p95, p99 = quantiles.tolist()
    longest_zero = lasts = 0.0
    for span, rate in pairs * (1 + trace.repeat):  # a pause may cross the end
        lasts = 0.0 if rate else lasts + span
        longest_zero = max(longest_zero, lasts)
    return LinkRates(
        mean_bps=mean,
        p1_bps=p1, p5_bps=p5, p50_bps=p50, p95_bps=p95, p99_bps=p99,
        zero_share=float(spans[rates == 0.0].sum() / length),
        longest_zero_s=longest_zero,
        window_bps=seen,
    )  # fmt: skip


_DEFAULTS = (
    "rtt", "alike", "congestion_control", "access_rate", "jitter", "sender", "start", "packet",
    "offload", "",
)  # fmt: skip
"""Fields whose default moves an answer, in the order in which it is said; "alike" and "" are none,
and are always said."""


def assumptions(scenario: Scenario, ran: Scenario | None = None) -> tuple[str, ...]:
    """Return what a scenario's traffic assumes, each once, with the classes where not all do."""
    traffic = (scenario if ran is None else ran).traffic
    said: dict[str, dict[str, list[str]]] = {field: {} for field in _DEFAULTS}
    for name, group, as_run in zip(scenario.class_names, scenario.traffic, traffic, strict=False):
        for field, text in _defaults(scenario, as_run):
            if field not in group.model_fields_set:
                said[field].setdefault(text, []).append(name)
    every = len(scenario.traffic)
    return tuple(
        text if len(names) == every else f"{text} ({_named_or_counted(names)})"
        for texts in said.values()
        for text, names in texts.items()
    )


def _defaults(scenario: Scenario, group: Traffic) -> Iterator[tuple[str, str]]:
    """Yield fields of a class, each with what is assumed unless it is written."""
    of_link, capacity = scenario.topology is None, scenario.link.capacity
    if of_link and group.access_rate is None:
        access = group.access(capacity)
        own = "the peak of the source" if access > 10 * capacity else "ten times the link"
        yield "access_rate", f"access links of {Rate(float(f'{access:.4g}'))}, {own}"
    if isinstance(group, Standing) and group.start.high > 0.0:
        yield "start", f"flows that start within {group.start.high}"
    if isinstance(group, Sized):  # of others, such as a replay, it follows from what is written
        yield "packet", f"packets of {group.packet}"
    if not isinstance(group, Tcp):
        return
    if of_link:
        yield "rtt", f"a round trip of {group.rtt.mean} for every flow"
        alike = scenario.persistent and varied_rtt(scenario)
        if alike and isinstance(group, Long) and "rtt" in group.model_fields_set:
            yield "alike", "the same round trip for every flow"
        if isinstance(group, Long) and 1.0 / FASTER < group.access(capacity) / capacity < FASTER:
            yield "jitter", "hosts without jitter: one as fast as the link may fill it alone"
    yield "congestion_control", f"congestion control {getattr(group, 'congestion_control', '')}"
    yield "sender", "the stack of Linux in its present release"
    if group.offloads:
        yield "offload", "hosts with segmentation offload, which send bursts of up to 64 KiB"
    else:
        yield "", "hosts that send one packet at a time, without segmentation offload"


def _named_or_counted(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 4 else ""
    return ", ".join(names if not more else names[:3]) + more
