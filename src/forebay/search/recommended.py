"""The size to configure: one rule, a pure function of the question and its rows.

1. The smallest size that was shown to meet the goals, and that no larger one contradicts.
2. At least 1.05 ms at line rate, at most 128 KiB, and one packet: two bursts of hosts (GSO hands
   over 64 KiB at most) and what a neighbour sends meanwhile.
3. Where no goal speaks of loss, at least r RTT/sqrt(n) (Appenzeller et al. 2004, section 3), as far
   as the queue loses 1 % at the size of 1 and 2; r is what the long flows carried there.
4. No more than the goals allow.

Where a step needs a size that was not run, the rule says so instead of guessing.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from forebay.outcome import Floor, Metric, Price, Quantiles
from forebay.scenario import BufferSize, Scenario, ScenarioError
from forebay.search.problem import Problem
from forebay.search.rows import Row, least, region
from forebay.words import Fact, argument

USUAL_LOSS = 0.01
"""Loss from which on the whole of BDP/sqrt(n) is recommended."""
_CLOSE = 1.15
"""Ratio to which the largest size that the goals allow is found."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the rule chose: the row of the size, the step that decided, and the least row."""

    row: Row
    step: int
    least: Row
    floor: Floor | None

    @property
    def packets(self) -> int:
        """The size to configure."""
        return self.row.packets


@dataclass(frozen=True, slots=True)
class Needs:
    """A size that the rule has to see before it can go on."""

    packets: int


def choose(
    problem: Problem, rows: Sequence[Row], limit: int, at_hand: Sequence[Row] = ()
) -> Chosen | Needs | None:
    """Return the size to configure, or a size to run first; None if no size meets the goals.

    Parameters
    ----------
    at_hand : rows of which the nearest stands for a size that was not run, where the time has
        ended: then no size is asked for.
    """
    smallest = least(rows)
    if smallest is None:
        return None
    run = {row.packets: row for row in (*at_hand, *rows)}
    packets, step, floor = smallest.packets, 1, None
    if problem.parameter.is_limit:
        floor = bursts(problem.scenario)
        if floor.packets > packets:
            packets, step = min(floor.packets, limit), 2
        if not speaks_of_loss(problem):
            there = run.get(packets) or _instead(packets, smallest, at_hand)
            if there is None:
                return Needs(packets)
            rule = min(limit, square_root(problem.scenario, there))
            if rule > packets:
                packets, step = rule, 3
    if problem.sizes:
        so_far = Chosen(smallest, step, smallest, floor)
        return _configurable(problem.sizes, run, so_far, packets, ended=bool(at_hand))
    there = run.get(packets) or _instead(packets, smallest, at_hand)
    if there is None:
        return Needs(packets)
    if there is smallest:
        return Chosen(there, 1, smallest, floor)
    if there.meets:
        return Chosen(there, step, smallest, floor)
    return _within(rows, smallest, packets, floor, ended=bool(at_hand))


def _instead(packets: int, smallest: Row, at_hand: Sequence[Row]) -> Row | None:
    """Return the nearest run that stands for a size that was not run; None while there is time."""
    stand = [row for row in region(at_hand) if row.packets > smallest.packets]
    near = (*stand, smallest) if at_hand else ()
    return min(near, key=lambda of: abs(math.log(of.packets / packets)), default=None)


def _configurable(
    sizes: Sequence[int], run: Mapping[int, Row], so_far: Chosen, packets: int, *, ended: bool
) -> Chosen | Needs | None:
    """Return the next of the sizes that can be configured, or else the largest that meets."""
    up = [size for size in sizes if size >= packets][:1]
    for candidate in (*up, *(size for size in reversed(sizes) if size < packets)):
        there = run.get(candidate)
        if there is None and not ended:
            return Needs(candidate)
        if there is not None and there.meets:
            return Chosen(there, so_far.step, so_far.least, so_far.floor)
    return None


def _within(
    rows: Sequence[Row], smallest: Row, packets: int, floor: Floor | None, *, ended: bool
) -> Chosen | Needs:
    """Return the largest size below so many packets that meets the goals."""
    most = [row for row in region(rows) if smallest.packets <= row.packets < packets][-1]
    if not ended:
        above = min(row.packets for row in rows if row.packets > most.packets)
        between = round(math.sqrt(most.packets * above))
        if above > _CLOSE * most.packets and most.packets < between < above:
            return Needs(between)
    return Chosen(most, 4, smallest, floor)


def bursts(scenario: Scenario) -> Floor:
    """Return the least size for what hosts and neighbours send at once."""
    packets = math.ceil((scenario.two_bursts + scenario.largest_packet) / int(scenario.packet))
    return Floor(packets=packets, why=Fact("step.two-bursts"))


def square_root(scenario: Scenario, there: Row) -> int:
    """Return r RTT/sqrt(n), less where the queue loses less than 1 % at a row; 0 without flows.

    What a policer of less than the link drops before the queue is not the queue's.
    """
    flows, policer = scenario.n_flows, scenario.link.policer
    drops_first = policer is not None and policer.rate < scenario.link.capacity
    if not flows or not there.loss or drops_first:
        return 0
    carried = sum(
        one.throughput_bps.value
        for one in there.outcome.classes
        if one.kind == "long" and one.throughput_bps is not None
    )
    used = min(1.0, carried / float(scenario.link.capacity)) if carried else 1.0
    whole = used * scenario.bdp_packets / math.sqrt(flows)
    return math.ceil(whole * min(1.0, there.loss / USUAL_LOSS))


def speaks_of_loss(problem: Problem) -> bool:
    """Whether a goal is on a loss, of the link or of a class."""
    return any("loss" in goal.kind.name for goal in problem.goals)


def price_sizes(chosen: int, limit: int) -> dict[int, str]:
    """Return the sizes beside the recommended one that its price shows."""
    half, double = chosen // 2, 2 * chosen
    sizes = {half: "half"} if half >= 1 else {}
    return sizes | ({double: "double"} if double <= limit else {})


def price(rows: Sequence[Row], chosen: Row, limit: int) -> tuple[Price, ...]:
    """Return what half, the size, its double and 1 % of loss take; what was not run is no row."""
    names = price_sizes(chosen.packets, limit) | {chosen.packets: "recommended"}
    prices = [
        Price(
            packets=row.packets, utilization=row.link.utilization, loss_rate=row.link.loss_rate,
            queue_delay_s=row.link.queue_delay_s, why=names[row.packets],
        )
        for row in rows if row.packets in names
    ]  # fmt: skip
    less = _less_lost(rows, chosen)
    return tuple(sorted([*prices, *([] if less is None else [less])], key=lambda of: of.packets))


def _less_lost(rows: Sequence[Row], chosen: Row) -> Price | None:
    """Return the size that loses 1 %, between two rows; None if none lost less, or it is met."""
    above = [row for row in rows if row.packets >= chosen.packets and row.loss is not None]
    for a, b in pairwise(above):
        if (b.loss or 0.0) <= USUAL_LOSS < (a.loss or 0.0):
            share = math.log((a.loss or 0.0) / USUAL_LOSS)
            share /= share + math.log(USUAL_LOSS / max(b.loss or 0.0, 1e-9))
            return _between(a, b, share)
    return None


def _between(a: Row, b: Row, share: float) -> Price:
    """Return what a size between two rows does, by a line in logarithms."""
    waits = [row.link.queue_delay_s for row in (a, b)]
    parts = {
        part: _mixed([getattr(wait, part, None) for wait in waits], share)
        for part in ("mean", "p50", "p95", "p99")
    }
    return Price(
        packets=round(a.packets * (b.packets / a.packets) ** share),
        utilization=_mixed([a.link.utilization, b.link.utilization], share),
        loss_rate=_mixed([a.link.loss_rate, b.link.loss_rate], share),
        queue_delay_s=Quantiles(**parts), why=f"loss {100 * USUAL_LOSS:g} %", approximate=True,
    )  # fmt: skip


def _mixed(of: Sequence[Metric | None], share: float) -> Metric | None:
    a, b = of
    if a is None or b is None:
        return None
    if min(a.value, b.value) > 0.0:
        value = a.value * (b.value / a.value) ** share
    else:
        value = a.value + share * (b.value - a.value)
    return Metric(value=value, low=None, high=None, n=min(a.n, b.n))


_NUMBER = re.compile(r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?")
_MOST = 1000


def parse_sizes(text: str, scenario: Scenario) -> tuple[int, ...]:
    """Return the packets of sizes such as "64, 128, 256 packets" or "1 MB, 2 MB", sorted.

    A number without a unit has that of the last one. Raises ScenarioError.
    """
    field = argument("sizes")
    if not isinstance(text, str):
        raise ScenarioError("wrong-type.sizes", field=field, value=text, most=_MOST)
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or len(parts) > _MOST:
        raise ScenarioError("no-sizes", field=field, sizes=len(parts), most=_MOST)
    if _NUMBER.fullmatch(parts[-1]):
        like = f'"{",".join(parts)} packets"'
        raise ScenarioError("no-unit.quantity", field=field, value=text, like=like)
    unit = _NUMBER.sub("", parts[-1], count=1)
    whole = [f"{part} {unit}" if _NUMBER.fullmatch(part) else part for part in parts]
    sizes = sorted({_packets(size, scenario) for size in whole})
    if sizes[0] < 1:
        raise ScenarioError("out-of-range.size-below-packet", field=field)
    return tuple(sizes)


def _packets(text: str, scenario: Scenario) -> int:
    size = BufferSize.parse_argument(argument("sizes"), text)
    return size.packets(
        rate_bps=float(scenario.link.capacity), packet_bytes=int(scenario.packet),
        bdp=scenario.bdp_packets, flows=scenario.n_flows,
    )  # fmt: skip
