"""What an answer says of flows that start late, or of which the window has hardly any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any

from forebay.errors import entry
from forebay.scenario import Duration, Short, Standing, Transfers
from forebay.scenario.source import Stopping

if TYPE_CHECKING:
    from forebay.outcome import Outcome
    from forebay.scenario import Scenario
    from forebay.scenario.transfer_table import TransferTable

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
    measure: Any = {} if measured is None else measured.scenario["measure"]
    warmup = Duration.parse(measure.get("warmup", str(scenario.measure.warmup)))
    duration = Duration.parse(measure.get("duration", str(scenario.measure.duration)))
    lines = list(_lines(scenario, seeds, warmup, Duration(warmup + duration)))
    if measured is not None and measured.engine != "theory" and scenario.topology is None:
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

    each = [starts(group, index, seed) for seed in seeds]
    return (
        _range([int((start > round(warmup * _PS_PER_S)).sum()) for start in each]),
        _range([int((start >= round(end * _PS_PER_S)).sum()) for start in each]),
    )


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def _expected(group: Standing, until: Duration) -> str:
    late = round(group.flows * (1.0 - group.start.share_up_to(until)))
    return f"about {late}" if late else "0"


def _line(index: int, group: Standing, late: str, never: str, warmup: Duration) -> str:
    begun = "" if never == "0" else f", {never} of them not before the run ends"
    if "start" in group.model_fields_set:
        hint = "they are measured from their start on"
    else:
        hint = f"write an earlier one, such as {entry('start', '0 s')}, or a longer measure.warmup"
    return (
        f"{late} of {int(group.flows)} flows of traffic.{index} start after the warm-up of "
        f"{warmup}{begun}: {hint}"
    )
