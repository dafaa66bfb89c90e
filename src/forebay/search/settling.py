"""Estimate a link's settling time and autocorrelation time from one traced replication.

The warm-up ends where cutting more no longer lowers the error of the mean: the marginal standard
error rule (White, SIMULATION 69(6), 1997) on means of five samples. The memory is the integrated
autocorrelation time, summed while pairs of autocorrelations are positive (Geyer, Statistical
Science 7(4), 1992, section 3.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forebay.outcome.settling import models_settle_s
from forebay.scenario import Duration, Long, Measure, Scenario, Standing
from forebay.search.goals import goals_of
from forebay.search.parameter import SizedParameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forebay.engines.base import TracesFlows
    from forebay.progress import Progress

    FloatArray = NDArray[np.float64]

_STEP = Duration(0.05)
WATCHED_S = 60.0
_BATCH = 5
_MEMORIES = 60.0
"""Ratio of the window to the memory."""
_ROUND_TRIPS = 20.0
_SHORTEST_S, _LONGEST_S = 20.0, 60.0
"""The memory of a sum hardly shows periods of a few seconds (BBR's probing): with 10 s the
crossing of a mix was 2.5 % too low (docs/explanation/scaled-links.md)."""
_MARGIN = 1.25


@dataclass(frozen=True, slots=True)
class Settling:
    """Seconds from the start to the steady state, and the steady state's memory in seconds."""

    settled_s: float
    memory_s: float


def watch(
    scenario: Scenario,
    trace: TracesFlows,
    parameter: SizedParameter,
    packets: int,
    seed: int,
    progress: Progress | None = None,
) -> Settling:
    """Trace one replication from its start."""
    measure = Measure(warmup=Duration(0), duration=Duration(WATCHED_S))
    sized = parameter.set(scenario, packets).model_copy(update={"measure": measure})
    seen = trace(sized, step=_STEP, flows=(), seed=seed, progress=progress)
    series = (seen.window_sum_packets, seen.bottleneck.queue_packets.astype(np.float64))
    return Settling(
        max(settled(each) for each in series) * _STEP,
        max(memory(each[settled(each) :]) for each in series) * _STEP,
    )


def measure_stands(scenario: Scenario) -> bool:
    """Whether warm-up and window come from the scenario, and not from the link's settling.

    They do where the scenario sets them, and where a goal is on a loss, because the sum of windows
    does not show the loss of slow starts.
    """
    given = "measure" in scenario.model_fields_set
    return given or any("loss" in goal.kind.name for goal in goals_of(scenario))


def measure_for(scenario: Scenario, settling: Settling) -> Measure:
    """Return a warm-up longer than the settling time, and a window longer than the memory."""
    window = min(max(_MEMORIES * settling.memory_s, _SHORTEST_S), _LONGEST_S)
    warmup = max(_MARGIN * settling.settled_s, least_warmup(scenario))
    return Measure(warmup=Duration(round(warmup, 1)), duration=Duration(round(window, 1)))


def least_warmup(scenario: Scenario) -> float:
    """Return the seconds until every flow has started, completed some round trips, and probed."""
    starts = [float(g.start.high) for g in scenario.traffic if isinstance(g, Standing)]
    models = [models_settle_s(group) for group in scenario.traffic if isinstance(group, Long)]
    return max(max(starts, default=0.0) + _ROUND_TRIPS * float(scenario.mean_rtt), *models, 0.0)


def settled(series: FloatArray) -> int:
    """Return the number of samples to discard, by the marginal standard error rule."""
    means = series[: len(series) // _BATCH * _BATCH].reshape(-1, _BATCH).mean(axis=1)
    left = len(means) - np.arange(len(means) // 2)
    sums, squares = np.cumsum(means[::-1])[::-1], np.cumsum(means[::-1] ** 2)[::-1]
    spread = squares[: len(left)] / left - (sums[: len(left)] / left) ** 2
    return _BATCH * int(np.argmin(spread / left)) if len(left) else 0


def memory(series: FloatArray) -> float:
    """Return the integrated autocorrelation time, samples; 1 for independent ones."""
    values = series - series.mean()
    if len(values) < 4 or not np.any(values):
        return 1.0
    size = 2 ** int(np.ceil(np.log2(2 * len(values))))
    power = np.abs(np.fft.rfft(values, size)) ** 2
    correlations = np.fft.irfft(power, size)[: len(values)]
    correlations /= correlations[0]
    pairs = correlations[0 : len(values) // 2 * 2 : 2] + correlations[1::2][: len(values) // 2]
    ends = np.flatnonzero(pairs <= 0)
    return max(1.0, float(2 * pairs[: ends[0] if ends.size else len(pairs)].sum() - 1))
