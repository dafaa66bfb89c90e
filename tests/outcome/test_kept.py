"""Metrics, verdicts and texts of readings made by hand, kept whole; thresholds by sweeps.

A sweep goes through a threshold in steps, so that a bound that moves moves an answer.
"""

import csv
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from tests.kept import Kept, plain
from tests.outcome import test_invariants as sound
from tests.outcome.test_goal_metrics import SEEN, goals
from tests.outcome.test_metrics import link, reading, traffic
from tests.outcome.test_of_packets import ASKED, packets
from tests.outcome.test_settling import BY_MODEL, LOSS_BASED, RATE, counts, read, why
from tests.outcome.test_synchrony import events
from tests.outcomes import metric as between
from tests.outcomes import outcome_of
from tests.scenarios import scenario

from forebay.outcome import Histogram, Outcome, Reading, statistics, summarize, violations
from forebay.outcome.completion import Lasted, by_size, completion, lasted, of_requests
from forebay.outcome.document import DocumentError, parse
from forebay.outcome.metrics import goal_metrics, of_histograms, queue_quantiles, up_to
from forebay.outcome.reading import (
    ClassReading,
    ControllerReading,
    LinkReading,
    Slowdowns,
    used_bits,
)
from forebay.outcome.reading_invariants import violations_of_reading
from forebay.outcome.settling import models_settle_s, needs, without_intervals
from forebay.outcome.trace import (
    FlowTrace,
    Incidents,
    LinkTrace,
    Periods,
    Trace,
    fit_normal,
    synchronization_index,
)
from forebay.scenario import Long, ScenarioError

Case = Callable[[], Any]
WAITS = Histogram(np.array([0.0, 1e-12, 0.1, 0.3, 0.7]), np.array([5.0, 0.0, 8.0, 2.0]))

NONE = Histogram(np.array([0.0, 1.0]), np.zeros(1))


def full(seed: int) -> tuple[LinkReading, ClassReading]:
    """Return readings that have all that an engine may measure."""
    one, kind = link(seed=seed), traffic()
    several = {
        "cubic": ControllerReading(2, np.array([2.0, 1.0 + seed]), 5 + seed, 300),
        "bbr": ControllerReading(1, np.array([2.0]), 3, 90),
    }
    slow = Slowdowns(
        np.array([5e3, 2e4, 2e4 + seed, 5e5, 3e7]), np.array([1.0, 2.0, 3.0 + seed, 9.0, 1.5]),
        np.array([0, 0, 1, 0, 0]),
    )  # fmt: skip
    most = one.bits * np.array([1.0, 1.0 - 1e-12, 1.2, 1.1])
    return (
        replace(
            one, marks=np.array([3, 0, seed, 2]), lost=np.array([1, 1, 0, seed]),
            class_delays=[WAITS], possible_bits=most, burst_bits=120.0, queue_step=2,
            most_packets=7,
        ),
        replace(
            kind, retransmissions=np.array([2, 1, 0, seed]), active=2 + seed % 2, rtt=WAITS,
            controllers=several, slowdowns=slow, fct_s=np.array([0.5, 2.0, 3.0 * seed]),
            unfinished_s=np.array([1.0 + seed]), requests_s=np.array([0.2, 0.4, 0.1 * seed]),
            unfinished_requests_s=np.array([0.3]), long_flows=LOSS_BASED,
        ),
    )  # fmt: skip


def seen(seed: int, *, whole: bool) -> Reading:
    if not whole:
        return reading(seed)
    one, kind = full(seed)
    other = replace(link(seed=seed + 9), marks=np.array([0, 1, 0, seed]))
    return Reading(seed, {"bottleneck": one, "next": other}, [kind], 400, 0.1)


def summary(seeds: int, *, whole: bool) -> Case:
    def case() -> Any:
        links, classes = summarize([seen(seed, whole=whole) for seed in range(1, seeds + 1)])
        return {**links, **{each.name: each for each in classes}}

    return case


ALL_GOALS = goals(
    utilization={"at_least": 0.99, "probability": 0.9},
    loss_rate={"at_most": 0.02, "probability": 0.9},
    queue_delay={"maximum": "1 s", "quantile": 0.75, "at_most": "1 s"},
)


def asked(*links: LinkReading) -> Case:
    """Return what goals ask of links, and what the whole summary has of it."""
    runs = [Reading(1, {"bottleneck": each}, [traffic()], 9, 0.1) for each in links]
    wanted = (ALL_GOALS, goals(queue_delay={"maximum": "1 s"}), goals(utilization=0.9), None)
    return lambda: [
        goal_metrics(links, ALL_GOALS),
        [summarize(runs, each)[0]["bottleneck"].goal_metrics for each in wanted],
    ]


def rounded() -> Any:
    """Return a link of a varying rate, whose bits exceed the possible ones by rounding alone."""
    fast = replace(
        link(), capacity_bps=1e9, sent=np.full(4, 10**6), possible_bits=link().bits - 99.0
    )
    return [used_bits(fast), summarize([Reading(1, {"bottleneck": fast}, [traffic()], 9, 0.1)])]


def idle() -> Any:
    none = np.zeros(4, np.int64)
    silent = replace(link(), bits=np.zeros(4), arrivals=none, drops=none, accepted=none)
    links = {name: silent for name in "ab"} | {"c": replace(silent, capacity_bps=7.0)}
    return summarize([Reading(1, links, [replace(traffic(), link="")], 0, 0.0)])[0]


# --- readings that hold together, and how far they may not -------------------------------------

SOUND = LinkReading(
    capacity_bps=1000.0, window_s=4.0, buffer_packets=2, bdp_packets=3.0,
    bits=np.array([1800.0, 1900.0]), arrivals=np.array([10, 12]), drops=np.array([1, 2]),
    accepted=np.array([9, 10]), sent=np.array([8, 11]), held=np.array([0, 1, 0]), most_packets=2,
    queue_packet_s=np.array([1.1, 0.5]), queue_s=np.array([[1.2, 0.5, 0.3], [1.5, 0.5, 0.0]]),
    queue_step=1, delay=Histogram(np.array([0.0, 0.1, 0.2, 0.3]), np.array([10.0, 6.0, 3.0])),
    delay_sum_s=np.array([1.0, 1.0]), longest_s=0.25, class_delays=[],
)  # fmt: skip
KIND = replace(
    traffic(2), throughput_bits=np.array([1700.0, 1900.0]), goodput_bits=np.array([1600.0, 1800.0]),
    drops=np.array([1, 2]), passed=np.array([9, 10]), sent=np.array([10, 12]),
    timeouts=np.array([0, 1]), flow_goodput_bits=np.array([2000.0, 1400.0]),
)  # fmt: skip
NEAR = (-1e-3, -2e-9, -1e-9, -5e-10, 0.0, 5e-10, 1e-9, 2e-9, 1e-3)


def broken(
    kind: ClassReading = KIND, tells: tuple[bool, bool] = (True, False), **of_link: Any
) -> Any:
    links = {"bottleneck": replace(SOUND, **of_link)}
    whole = Reading(1, links, [kind], 40, 0.1, links_tell_all=tells[0], handshakes=tells[1])
    return [str(each) for each in violations_of_reading(whole)]


def by_share(name: str) -> Case:
    """Return what is seen of a field that is off by shares near the tolerance."""
    return lambda: [broken(**{name: getattr(SOUND, name) * (1.0 + off)}) for off in NEAR]


READINGS: dict[str, Case] = {
    "a sound reading": broken,
    "packets nowhere": lambda: broken(sent=SOUND.sent + 1),
    "waits nowhere": lambda: broken(delay=replace(SOUND.delay, counts=np.array([9.0, 6.0, 3.0]))),
    "a long wait": lambda: [broken(longest_s=s) for s in (0.19, 0.2, 0.3, 0.31)],
    "waits that are too short": lambda: [
        broken(delay_sum_s=np.array([0.6, 0.6 + off])) for off in (-1e-6, -2e-9, 0.0, 1.9, 1.901)],
    "time": by_share("queue_s"),
    "area": by_share("queue_packet_s"),
    "area of bins of two": lambda: [
        broken(queue_step=2, most_packets=4, queue_packet_s=np.array([a, 1.0]))
        for a in (2.1, 2.2, 3.0, 4.2, 4.3)],
    "a long queue": lambda: [broken(most_packets=n) for n in (1, 2)],
    "a wire": lambda: [broken(bits=np.array([2000.0 * (1 + off), 1900.0])) for off in NEAR],
    "a wire of a varying rate": lambda: [
        broken(possible_bits=SOUND.bits - off) for off in (-1.0, 0.0, 1e-7, 1e-5, 1.0)],
    "bits used": lambda: [
        used_bits(replace(SOUND, possible_bits=SOUND.bits - off)) for off in (-1.0, 1e-7, 1.0)],
    "classes beyond the link": lambda: [
        broken(replace(KIND, throughput_bits=np.array([1800.0, 1900.0 + off])), burst_bits=burst)
        for off, burst in ((0.0, 0.0), (1e-6, 0.0), (1e-3, 0.0), (90.0, 100.0), (110.0, 100.0))],
    "flows beyond the class": lambda: [
        broken(replace(KIND, flow_goodput_bits=np.array([2000.0, 1400.0 + off])))
        for off in (-1.0, -1e-6, 0.0, 1e-6, 1e-5)],
    "drops elsewhere": lambda: [
        broken(replace(KIND, drops=np.array([1, drops])), tells)
        for drops in (1, 2, 3) for tells in ((True, False), (True, True), (False, False))],
    "drops and losses": lambda: [
        broken(replace(KIND, drops=np.array([1, drops])), lost=np.array([0, 2]))
        for drops in (2, 4)],
    "passed": lambda: [broken(replace(KIND, passed=np.array([9, n]))) for n in (10, 11)],
    "below zero": lambda: [
        broken(bits=np.array([-1.0, 9.0])), broken(held=np.array([0, -1, 0])),
        broken(replace(KIND, timeouts=np.array([-1, 0]))),
        broken(replace(KIND, fct_s=np.array([np.inf])))],
}  # fmt: skip


# --- outcomes that hold together, and how far they may not --------------------------------------


def told(*changed: Any) -> list[str]:
    links = [each for each in changed if hasattr(each, "buffer_packets")] or [sound.link()]
    kinds = [each for each in changed if hasattr(each, "jain")] or [sound.kind()]
    found = violations(outcome_of(links[0], *kinds))
    return [f"{each.invariant}: {each.where}" if "{" in each.seen else str(each) for each in found]


def near(make: Callable[[float], Any], edge: float) -> Case:
    return lambda: [told(make(edge * (1.0 + off))) for off in NEAR]


metric = partial(between, n=2)


def low_means(*quantiles: float) -> list[Any]:
    """Return what is seen of means around the least that these quantiles let them be."""
    means = np.linspace(0.02, 0.03, 31).tolist()
    return [told(sound.kind(rtt_s=sound.spread(mean, *quantiles))) for mean in means]


def goal(name: str, value: float) -> Any:
    return sound.link(goal_metrics={"queue_delay_maximum": metric(0.011), name: metric(value)})


OUTCOMES: dict[str, Case] = {
    **{f"breaks {name}": partial(told, *parts) for name, parts in sound.BROKEN.items()},
    "utilization": near(lambda x: sound.link(utilization=metric(x)), 1.0),
    "its interval": near(lambda x: sound.link(utilization=metric(0.9, 0.8, x)), 1.0),
    "its lower end": lambda: [
        told(sound.link(utilization=metric(0.1, low, 0.2))) for low in (-0.1, -1e-12, 0.0, 0.11)],
    "throughput": near(lambda x: sound.kind(throughput_bps=metric(x)), 1e6),
    "goodput": near(lambda x: sound.kind(goodput_bps=metric(x)), 9e5),
    "a queue": near(lambda x: sound.link(queue_packets=sound.spread(4.0, 3.0, 8.0, x)), 10.0),
    "a wait": near(lambda x: sound.link(queue_delay_s=sound.spread(4e-3, 3e-3, 8e-3, x)), 0.011),
    "a mean of waits": near(
        lambda x: sound.link(queue_delay_s=sound.spread(x, 3e-3, 8e-3, 9e-3)), 0.011),
    **{f"a mean below its {part}": partial(low_means, *of) for part, of in (
        ("p50", (0.05, 0.05, 0.05)), ("p95", (0.0, 0.5, 0.5)), ("p99", (0.0, 0.0, 2.5)))},
    "an increase": lambda: [told(goal("fct_increase", x)) for x in (-1.1, -1.0, -0.5, 9.0)],
    "an interval of an increase": near(
        lambda x: sound.link(goal_metrics={"fct_increase": metric(0.5, x, 0.6)}), -1.0),
    "a probability": lambda: [
        told(goal("loss_rate_probability", x)) for x in (-0.1, 0.0, 1.0, 1.1)],
    "another goal": lambda: [told(goal("queue_delay_p99.9", x)) for x in (-0.1, 0.0, 9.0)],
    "replications": lambda: [told(sound.link(utilization=metric(0.5, n=n))) for n in (-1, 0, 2, 3)],
    "transfers": lambda: [
        told(sound.kind(transfers=transfers, fct_open=why, fct_least_s=least))
        for transfers in (None, metric(0.0), metric(3.0)) for why in (None, "so")
        for least in (None, sound.spread(1.0, 1.0, 1.0, 1.0))],
    "sums": lambda: [told(*(sound.kind(throughput_bps=metric(x), goodput_bps=None) for _ in "ab"))
                     for x in (4e5, 5e5, 5e5 * (1 + 5e-10), 5e5 * (1 + 2e-9))],
}  # fmt: skip


# --- flows that have settled, and how far they may not ------------------------------------------

STEADY = np.full(20, RATE * 2.0)
HUM = np.resize([1.0, -1.0], 20)


def drift(rise: float, noise: float) -> Any:
    return STEADY * (1.0 + np.repeat([0.0, rise], 10) + noise * HUM)


def all_of(*series: Any) -> list[Any]:
    return list(series)


SETTLING: dict[str, Case] = {
    "a drift": lambda: [
        [why(*read(LOSS_BASED, counts(0, 3), drift(rise, noise)))
         for rise in np.arange(-10, 11) / 50]
        for noise in (0.001, 0.05, 0.1, 0.2)],
    "losses at the beginning": lambda: [
        [why(*read(BY_MODEL, np.array([first, first // 2, *[rest] * 18])))
         for first in (0, 20, 99, 200, 400, 900, 3000)] for rest in (0, 3, 9, 30, 90)],
    "losses of the first batches": lambda: [
        why(*read(BY_MODEL, np.array([900] * k + [rest] * (20 - k))))
        for k in range(1, 14) for rest in (0, 200, 400, 600)],
    "an overshoot": lambda: [
        [why(*read(LOSS_BASED, counts(0, n, *[rest] * 12, 7, *[rest] * 5))) for n in
         (1000, 2400, 2600, 5000)] for rest in (0, 9, 11, 90)],
    "held back": lambda: [
        [why(*read(held, counts(0))) for held in (
            replace(LOSS_BASED, window_bits=RATE * 0.1 / share),
            replace(LOSS_BASED, most_bps=RATE / share))]
        for share in (0.7, 0.79, 0.8, 0.81, 1.0)],
    "events": lambda: [
        [why(*read(LOSS_BASED, counts(*[9 if k in at else 0 for k in range(20)]), rtt_s=rtt))
         for at in ((), (0,), (3, 4), (3, 5), (3, 9, 15))] for rtt in (0.1, 2.1, 4.1, 9.0)],
    "marks": lambda: [why(*read(LOSS_BASED, counts(0)), marks) for marks in (
        None, counts(0), counts(0, 1), np.eye(1, 20, 4, dtype=np.int64)[0])],
    "a queue that grows": lambda: [
        [why(*read(BY_MODEL, counts(0), queue=low + rise * np.arange(20) / 19 + hum * HUM))
         for rise in (0.5, 1.0, 3.0, 4.0, 4.4, 8.0, 30.0)]
        for low in (1.0, 30.0) for hum in (0, 0.3)],
    "a queue that grows, but for dips": lambda: [
        why(*read(BY_MODEL, counts(0), queue=10.0 + 4.0 * np.arange(20) - 9.0 * np.isin(
            np.arange(20), range(1, 2 * dips, 2)))) for dips in range(7)],
    "exactly at the thresholds": lambda: [
        why(*read(LOSS_BASED, counts(0, 3), np.repeat([19.0, 21.0], 10))),
        why(*read(LOSS_BASED, counts(0, 3), np.repeat([19.0, 21.125], 10))),
        why(*read(BY_MODEL, counts(0), queue=np.repeat([20.0, 22.0], 10))),
        why(*read(BY_MODEL, counts(0), queue=np.repeat(np.arange(10.0), 2) * 9.0)),
        why(*read(BY_MODEL, counts(0), queue=np.concatenate([np.arange(17) * 9.0, [144.0] * 3]))),
        why(*read(BY_MODEL, counts(0), queue=np.concatenate([[0.0] * 4, np.arange(16) * 9.0])))],
    "losses of a queue that grows": lambda: why(
        *read(BY_MODEL, counts(0, 1), queue=10.0 + 4.0 * np.arange(20))),
    "early": lambda: [why(*read(replace(flows, early=True), counts(0, 3)))
                      for flows in (LOSS_BASED, BY_MODEL)],
    "models": lambda: [
        models_settle_s(Long(flows=10, rtt="50 ms", congestion_control=control, start=start))
        for control in ("bbr", "bbr3", "cubic") for start in ("0 s", "7 s")],
    "in words": lambda: needs("its queue still grows", "9 s"),
    "without intervals": lambda: without_intervals(late(), "9 s"),
}  # fmt: skip


def late() -> Outcome:
    made = outcome_of(sound.link(), sound.kind(settled=False, unsettled="so"))
    other = sound.link()
    return made.model_copy(update={"links": {"bottleneck": sound.link(), "other": other}})


# --- statistics, completion, traces -------------------------------------------------------------

SPANS = [np.array([0.5, 1.0, 1.0, 7.0, 2.0]), np.array([0.25, 3.0, 8.0])]


def of_samples(*replications: tuple[list[float], list[float]], window_s: float = 8.0) -> Case:
    each = [(np.array(ended, float), np.array(open_, float)) for ended, open_ in replications]
    return lambda: completion(each, window_s)


def estimate() -> Any:
    own: Lasted = lasted((SPANS[0], SPANS[1]))
    shares = [own.quantile(p) for p in (0.1, 0.5, 0.75, 0.9, 1.0)]
    return [
        plain(own),
        shares,
        own.mean(),
        own.knows(0.8),
        own.share_above(np.array([0.1, 1.0, 9.0])),
    ]


GRID = np.arange(7.0)
THREE = [Histogram(GRID[: k + 4], np.arange(1.0, k + 4.0)[::-1] ** 2) for k in (0, 3, 1)]
STATISTICS: dict[str, Case] = {
    "t": lambda: [statistics.student_t(n) for n in (1, 2, 4, 9, 19, 99)],
    "half widths": lambda: [
        statistics.half_width(np.array([1.0, 2.0, 4.0])), statistics.half_width(np.array([1.0])),
        statistics.ratio_half_width(np.array([1.0, 2.0, 4.0]), np.array([2.0, 9.0, 5.0])),
        statistics.ratio_half_width(np.ones(2), np.zeros(2))],
    "no replications": lambda: statistics.over_replications([], (0.0, 1.0)),
    "over replications": lambda: [
        statistics.over_replications(values, bounds, weights) for values, bounds, weights in (
            ([0.5, 0.9, 0.97], (0.0, 1.0), None), ([0.0, 0.001, 0.02], (0.0, 1.0), None),
            ([0.0, 0.0, 0.0], (0.0, 1.0), None), ([1.0, 1.0, 0.999], (0.0, 1.0), None),
            ([3.0, 900.0], (0.0, math.inf), None), ([3.0, 9.0, 4.0], (0.0, 10.0), [1.0, 8.0, 3.0]),
            ([-3.0, 9.0, 4.0], (-math.inf, math.inf), None), ([0.4], (0.0, 1.0), None),
            ([1e-9, 0.9], (0.0, 1.0), None))],
    "around": lambda: [
        statistics.around(value, half, 3, (0.0, 1.0))
        for value in (0.5, 1.0, 1.0 + 5e-10, 1.0 + 2e-9)
        for half in (None, 0.2, 0.7)],
    "of counts": lambda: [
        statistics.of_counts(rows, step, (0.1, 0.5, 0.95)) for step in (1, 4) for rows in (
            np.array([[5.0, 3.0, 2.0], [0.0, 0.0, 0.0], [0.0, 1.0, 1.0]]),
            np.array([[1.0, 0.0, 9.0]]))],
    "of histograms": lambda: [
        statistics.several_of_histogram(WAITS, (0.1, 0.34, 0.5, 0.99)),
        statistics.mean_of_histogram(WAITS), statistics.of_histogram(NONE, 0.5),
        statistics.mean_of_histogram(NONE), of_histograms(THREE), of_histograms([WAITS]),
        of_histograms([]), up_to(THREE, [3.0, 5.5, 4.0]), up_to(THREE[:1], [2.5]),
        statistics.pooled(THREE)],
    "bins of a quantile": lambda: [
        statistics.bins_of_quantile(statistics.shares_above(rows), rows.sum(axis=1), p)
        for rows in (np.random.default_rng(n).uniform(0, 99, (n, 30)) for n in (1, 2, 5, 20))
        for p in (0.1, 0.5, 0.95, 0.99)],
    "bins of exactly a share": lambda: [
        statistics.bins_of_quantile(np.array([[0.9, 1.0 - p + off, 0.0]] * 2), np.ones(2), p)
        for p in (0.5, 0.95) for off in (0.0, 1e-12, 2e-12)],
    "queues": lambda: [
        queue_quantiles(
            [replace(link(seed=k), queue_step=step) for k in range(1, n + 1)], (0.0, 5.0))
        for n in (1, 2, 5) for step in (1, 2)],
    "goals": asked(SEEN),
    "goals of three": asked(SEEN, replace(SEEN, longest_s=9.0), SEEN),
    "all ended": of_samples(([1, 2, 3, 9], [])),
    "some stall": of_samples(([1, 2, 2, 3], [1.0, 6.0])),
    "some had just begun": of_samples(([1, 2, 3], [0.1, 3.9])),
    "three replications": of_samples(([1, 2, 3], [0.1]), ([2, 2.5, 8], [7.0]), ([], [])),
    "many": lambda: completion([(SPANS[0], SPANS[1])] * 3 + [(SPANS[1], SPANS[0][:1])], 9.0),
    "thousands": lambda: completion([
        (draw.exponential(1.0, 5000), draw.exponential(2.0, 40))
        for draw in map(np.random.default_rng, (1, 2, 3))], 9.0),
    "ties": of_samples(([2.0] * 19, [2.0])),
    "nothing began": of_samples(([], [])),
    "an estimate": estimate,
    "requests": lambda: of_requests([(SPANS[0], SPANS[1]), (None, None)], 8.0),
    "slowdowns": lambda: by_size([replace(full(k)[1].slowdowns, size_bytes=np.array(
        [1e4, 1e4 + 1, 1e5, 1e6 + 1, 1e7])) for k in (1, 2)]),
}  # fmt: skip


def trace() -> Trace:
    samples, flows = 40, 3
    at = np.arange(samples) / 10.0
    lengths = Histogram(np.array([0.0, 0.1, 0.4]), np.array([3.0, 1.0]))
    queue = LinkTrace(
        capacity_bps=1e6, buffer_packets=9, bdp_packets=20.0,
        queue_packets=np.arange(samples) % 8, queue_step=2, queue_s=np.array([1.0, 2.0, 0.0, 1.0]),
        seen=np.array([9, 3, 0, 1]),
        delay=Histogram(np.array([0.0, 0.05, 0.1]), np.array([6.0, 7.0])),
        busy=Periods(number=4, total_s=3.0, lengths=lengths),
        idle=Periods(number=0, total_s=1.0, lengths=Histogram(np.array([0.0, 1.0]), np.zeros(1))),
        arrivals=np.array([9, 4]), drops=np.array([2, 1]), marks=np.array([0, 0]),
    )  # fmt: skip
    windows = [5.0 + (3.0 * at + k * k) % (4 + k) for k in range(flows)]
    lost = Incidents(at_s=np.array([0.5, 0.55, 1.4, 1.5, 2.2]), flow=np.array([0, 1, 0, 2, 2]),
                     count=np.array([1, 2, 1, 1, 1]))  # fmt: skip
    less = Incidents(at_s=np.array([0.6, 0.7, 1.6, 1.7, 2.3]), flow=np.array([0, 1, 2, 1, 2]),
                     count=np.ones(5, np.int64))  # fmt: skip
    empty = replace_seen(queue)
    return Trace(
        scenario=scenario().to_dict(), seed=3, step_s=0.1, window_s=(0.0, 4.0), round_trip_s=0.1,
        at_s=at, links={"bottleneck": queue, "next": empty},
        flows={k: FlowTrace(cwnd_packets=w, srtt_s=np.where(at < 0.2, np.nan, 0.1 + at / 50),
                            state=(np.arange(samples) + k) % 5) for k, w in enumerate(windows)},
        window_sum_packets=np.sum(windows, axis=0), in_avoidance=np.arange(samples) % 4,
        window_mean_packets=np.array([w.mean() for w in windows] + [0.0]),
        window_variance=np.array([w.var() for w in windows] + [0.0]), drops=lost, reductions=less,
        unsettled={"long-0": None},
    )  # fmt: skip


def replace_seen(queue: LinkTrace) -> LinkTrace:
    return queue.model_copy(update={"seen": np.zeros(4, np.int64)})


def written() -> Any:
    """Return what a trace writes into its three files."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("s.csv", "h.csv", "a.npz")]
        trace().to_csv(paths[0])
        trace().histograms_to_csv(paths[1])
        trace().to_npz(paths[2])
        rows = [list(csv.reader(path.read_text("utf-8").splitlines())) for path in paths[:2]]
        arrays = np.load(paths[2])
        return {
            "series": rows[0][:6], "histograms": rows[1],
            "arrays": {k: [arrays[k].shape, str(arrays[k].ravel()[:3])] for k in arrays},
        }  # fmt: skip


SKEWED = np.array([0.0, 0.5, 0.5, 1.0, 4.0, 4.0, 9.0])
TRACES: dict[str, Case] = {
    "a trace": trace,
    "a trace in one line": lambda: repr(trace()),
    "files of a trace": written,
    "fits": lambda: [fit_normal(SKEWED), fit_normal(SKEWED[:2]), fit_normal(SKEWED[:1])],
    "index": lambda: [
        synchronization_index(SKEWED, np.array([1.0, 3.0])),
        synchronization_index(SKEWED, np.zeros(2))],
    "rounds of loss": lambda: [
        events([(at, flow) for at, flow in drops], [(1.5, 0), (5.2, 1), (5.2, 0), (97.5, 2)])
        for drops in (
            [(1.0, 0), (1.999, 1), (2.0, 0), (5.0, 1), (97.0, 2)], [(0.99, 0), (98.0, 1)],
            [(5.0, 0), (5.0, 1), (5.0, 0), (6.0, 3)], [])],
}  # fmt: skip


# --- packets of others, documents ---------------------------------------------------------------


def of_packets(*seeds: int, **changed: Any) -> Case:
    def case() -> Any:
        try:
            made = Outcome.of_packets(ASKED, "mine", {k: packets(k) | changed for k in seeds})
        except ScenarioError as wrong:
            return str(wrong)
        rows = [made.to_row(intervals=True), list(made.to_row())]
        return {"links": made.links, "classes": made.classes, "rows": rows, "in short": repr(made)}

    return case


def unread(document: Any) -> str:
    with pytest.raises(DocumentError) as wrong:
        Trace.from_dict(document, "a.json")
    return str(wrong.value)


def traces_that_are_none() -> list[str]:
    """Return why each change of a trace's document is refused."""
    whole = trace().to_dict()
    link = whole["links"]["bottleneck"]
    wrong: list[Any] = [
        None, [], {}, {"schema": 1}, whole | {"schema": 2}, whole | {"schema": "1"},
        whole | {"schema": 2, "colour": 1}, whole | {"colour": 1}, whole | {"at_s": 3},
        whole | {"at_s": ["a"]}, whole | {"at_s": [[1.0]]}, whole | {"at_s": [1e101]},
        whole | {"links": {}}, whole | {"seed": None}, whole | {"scenario": {"name": "x"}},
        *(whole | {"links": {"bottleneck": link | {"delay": bins}}} for bins in (
            3, {}, {"edges": [0, 1], "counts": []}, {"edges": [1, 1], "counts": [1]},
            {"edges": [0, 1], "counts": [-1]}, {"edges": [0, 1], "counts": [1, 2]})),
    ]  # fmt: skip
    return [unread(each) for each in wrong]


def refused(text: str) -> str:
    with pytest.raises(DocumentError) as wrong:
        parse(text, "a.json")
    return str(wrong.value)


OTHERS: dict[str, Case] = {
    "packets of one run": of_packets(1),
    "packets of three runs": of_packets(1, 2, 3),
    "packets of no run": of_packets(),
    "packets of flows": of_packets(1, flow=np.arange(25_000) % 7, **{"class": 0.0}),
    **{f"packets with {name}": of_packets(1, **{name: value}) for name, value in (
        ("bytes", 0.0), ("class", -1), ("arrived_s", [[0.0]]), ("started_s", 0.0), ("size", 1))},
    **{f"a document of {text[:12]}": partial(refused, text) for text in (
        "", "{", "[1,", "NaN", "-Infinity", "1" * 20 + "0", "1e101", "1e100")},
    "traces that are none": traces_that_are_none,
    "a name in JSON": lambda: outcome_of(sound.link()).model_copy(
        update={"scenario": {"name": "Größe"}}).to_json(indent=None)[:99],
    "numbers that are read": lambda: parse(f"[{'1' * 20}, 1e99, -1e99, 0.5]"),
}  # fmt: skip
CASES: dict[str, Case] = {
    **{f"{n} runs{', all of it' if whole else ''}": summary(n, whole=whole)
       for n in (1, 2, 5) for whole in (False, True)},
    "idle links": idle,
    "a rate that varies": rounded,
    **READINGS, **OUTCOMES, **SETTLING, **STATISTICS, **TRACES, **OTHERS,
}  # fmt: skip
KEPT = Kept(__file__.replace("test_kept.py", "kept.json"), CASES)


@pytest.mark.parametrize("name", CASES)
def test_an_answer_is_kept(name: str) -> None:
    KEPT.check(name)
