"""The recommended size: the one place that says which size an engineer should configure.

The least that was shown to meet the goals is an answer to a narrow question. A careful engineer
configures more, as far as the goals leave room: the upper end of the interval in which the least
lies, a size with a usable loss, and on fast links at least what hosts and neighbours send at once.
It reads the result of a search and runs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forebay.outcome import Floor, Recommended, Verdict
from forebay.search.acceptable_loss import loss_value
from forebay.search.problem import costs_little, square_root_rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.outcome import Buffer, GoalResult, Interval, SizeResult
    from forebay.search.problem import Problem

_FAST = 1e9
"""Rate in bit/s from which the floor holds: hosts with segmentation offload send whole bursts."""
_CLOSE = 1.25
"""Loss over the least within the goals, up to which a larger buffer is not worth its delay."""
_NEARLY_USABLE = 1.75
"""Loss over what is usable, up to which a size counts as near it: seeds differ by as much."""
_NEARLY = 0.8
"""Share of the largest size within the goals that stands for it."""
_BURST = 64 << 10
"""Bytes that a host hands to its card at once, at most (GSO_LEGACY_MAX_SIZE, linux/netdevice.h)."""


def with_recommended(problem: Problem, found: SizeResult) -> SizeResult:
    """Return a result with the recommended size, or with the reason why there is none."""
    if found.buffer is None:
        unsettled = _unsettled(problem, found)
        if unsettled is None:
            return found
        reason = f"{found.reason}; but {unsettled}"
        return found.model_copy(update={"undecided": True, "reason": reason})
    why_not = (
        _unsettled(problem, found)
        or _undecided(problem, found, found.buffer)
        or too_few_transfers(problem, found)
    )
    if why_not is not None:
        return found.model_copy(update={"reason": why_not})
    if found.aqm is not None:
        from forebay.search.kept_target import default_kept

        kept = default_kept(problem, found, found.buffer)
        if kept is not None:
            return kept
    made = _Choice(problem, found, found.buffer).made()
    if isinstance(made, str):
        return found.model_copy(update={"reason": made})
    update: dict[str, object] = {"recommended": made}
    if found.aqm is not None:
        update["aqm"] = problem.parameter.describe(made.packets)
    return found.model_copy(update=update)


def too_few_transfers(problem: Problem, found: SizeResult) -> str | None:
    """Return why the transfers are too few for a recommendation; None if they are enough."""
    if problem.scenario.n_flows:
        return None  # flows that last decide
    from forebay.search.transfers import too_few

    return too_few(problem, found)


def _unsettled(problem: Problem, found: SizeResult) -> str | None:
    """Return that flows had not settled in the run that decides; None if they had.

    Also None where the scenario sets the measured window: that is the question then.
    """
    there = found.there
    late = [] if there is None else [k.name for k in there.outcome.classes if k.settled is False]
    if there is None or not late or "measure" in problem.scenario.model_fields_set:
        return None
    return f"{' and '.join(late)} had not settled with {_packets(there.packets)}"


def _undecided(problem: Problem, found: SizeResult, buffer: Buffer) -> str | None:
    """Return why the evidence carries no recommendation; None if it may carry one.

    A wide range does, if runs showed that its end meets the goals, if the floor lies above it, or
    if its end delays no flow by what it would notice.
    """
    floor = None if found.aqm is not None else floor_of(problem)
    covered = floor is not None and floor.packets >= buffer.high
    wide = buffer.is_guess and found.scaled is not None and not covered
    if wide and not costs_little(problem, buffer.high):
        return (
            f"the evidence leaves {buffer.low} to {buffer.high} packets, which is too wide to "
            "choose a buffer by"
        )
    open_ = [goal for goal in found.goals if _is_open(goal)]
    if open_:
        names = " and ".join(goal.name for goal in open_)
        return f"with {_packets(buffer.packets)}, {names} is undecided"
    return None


def _is_open(goal: GoalResult) -> bool:
    """Whether a goal that limits the buffer is undecided; the interval is about the others."""
    return goal.direction != "increasing" and goal.verdict is Verdict.UNDECIDED


class _Choice:
    """Chooses a size step by step, within the sizes that meet the goals; each step says why."""

    def __init__(self, problem: Problem, found: SizeResult, buffer: Buffer) -> None:
        self._problem, self._found = problem, found
        self._region = part_from(found.region, buffer.packets)
        self._buffer, self._packets = buffer, buffer.packets
        self._within = None if buffer.low == buffer.high else self._least_from(buffer.high)
        self._packets = self._begun = self._begin()
        self._why: list[str] = []

    def made(self) -> Recommended | str:
        """Return the recommended size; the reason if its loss decides, and is unknown."""
        unknown = self._usable_loss()
        if unknown is not None:
            return unknown
        floor = self._hold_bursts()
        sized = self._problem.scenario
        octets = self._packets * int(sized.packet)
        seconds = octets * 8 / float(sized.link.capacity)
        return Recommended(
            packets=self._packets,
            bytes=octets,
            seconds=seconds,
            why=(self._why_begun(), *self._why),
            floor=floor,
        )

    def _begin(self) -> int:
        """Return the upper end of the interval, or the end of the goals' region below it."""
        if self._buffer.low == self._buffer.high:
            return self._buffer.packets
        return self._most() if self._within is None else self._within

    def _why_begun(self) -> str:
        """Say where the choice began, by its number if it went on from there."""
        buffer, stayed = self._buffer, self._packets == self._begun
        if buffer.low == buffer.high:
            return (
                f"{'it' if stayed else self._begun} is the least that was shown to meet the goals"
            )
        between = f"the least lies between {buffer.low} and {_packets(buffer.high)}"
        if self._within is None:
            return f"{between}, and the goals allow at most {self._begun}"
        end = "this is the upper end" if stayed else f"{self._begun} is its upper end"
        if buffer.is_guess and costs_little(self._problem, self._within):
            end += ", which takes less than a hundredth of the shortest round trip"
        return f"{between}, and {end}"

    def _usable_loss(self) -> str | None:
        """Take a size whose loss is usable, if the goals have one; else say that none has.

        Returns why that is unknown, if it is.
        """
        warning = self._found.loss_warning
        if warning is not None:
            self._avoid(warning.usable, warning.packets if not warning.missed else None)
        elif self._loss_is_unknown():
            from forebay.search.law_loss import usable_by_law

            packets, why = usable_by_law(self._problem, self._packets, self._most())
            if packets is None:
                return why
            self._packets = packets
            self._why.append(why)
        return None

    def _avoid(self, usable: float, packets: int | None) -> None:
        """Take a size with a usable loss, or else one of little loss."""
        warning = self._found.loss_warning
        assert warning is not None
        lost = f"{100 * warning.loss:.3g} % are lost with {_packets(self._found.chosen or 1)}"
        within = None if packets is None else self._least_from(max(packets, self._packets))
        if within is not None:
            self._packets = within
            self._why.append(f"{lost}; here no more than {100 * usable:g} %, which is usable")
            return
        tried = warning.packets is not None or warning.largest > self._packets
        if not tried and self._by_law(lost):
            return
        none = self._none_usable(usable)
        self._why.append(f"{lost}; {none}{self._lose_less(usable)}")

    def _by_law(self, lost: str) -> bool:
        """Take the size of usable loss by the law, where no larger one was tried."""
        from forebay.search.law_loss import usable_from

        warning, most = self._found.loss_warning, self._most()
        assert warning is not None
        packets = usable_from(self._problem, warning.loss, self._found.chosen or 1, most)
        if packets is None or packets <= self._packets:
            return False
        self._packets = packets
        self._why.append(
            f"{lost}; no larger buffer was tried, and as the loss law lets it fall, {packets} lose "
            f"the {100 * warning.usable:g} % that is usable"
        )
        return True

    def _lose_less(self, usable: float) -> str:
        """Take the smallest size whose loss is close to the least within the goals; say so.

        If the goals have no end, nothing weighs the delay of a larger buffer, so that it is taken
        only where it brings the loss near what is usable: else noise alone would decide between a
        size of a usable loss and a small one. In both cases the rule of the square root is taken
        where it is more.
        """
        said, tried = "", self._tried_within()
        least = min((loss for _, loss in tried), default=0.0)
        ends = not math.isinf(max(map(end_of, self._region), default=0.0))
        if ends or least <= _NEARLY_USABLE * usable:
            bound = _CLOSE * least
            close = min((packets for packets, loss in tried if loss <= bound), default=0)
            if close > self._packets:
                self._packets = close
                said = (
                    f"; of the sizes tried, {close} is the smallest that loses little more than "
                    "the least"
                )
        return said + self._by_rule()

    def _by_rule(self) -> str:
        """Take a bandwidth-delay product over the square root of n, if that is more; say so.

        A mix may keep a link busy with one packet, at a loss that nobody would configure. The rule
        is about a buffer: a target or a threshold stays.
        """
        if self._found.aqm is not None or not self._problem.scenario.n_flows:
            return ""
        rule = square_root_rule(self._problem.scenario)
        within = self._least_from(rule) if rule > self._packets else None
        if within is None:
            return ""
        self._packets = within
        known = [loss for packets, loss in self._tried_within() if packets == within]
        there = f", where {100 * known[0]:.3g} % are lost" if known else ""
        return f"; bdp/sqrt(n), the least that a published rule asks, is {_packets(within)}{there}"

    def _tried_within(self) -> list[tuple[int, float]]:
        """Return the sizes within the goals that were tried, from the least on, and their loss."""
        ends = [(part.low, end_of(part)) for part in self._found.region]
        return [
            (point.packets, loss_value(point.outcome))
            for point in self._found.curve
            if any(low <= point.packets <= high for low, high in ends)
        ]

    def _none_usable(self, usable: float) -> str:
        """Return what is known of the loss of larger sizes within the goals."""
        warning = self._found.loss_warning
        assert warning is not None
        bound, most = f"{100 * usable:g} %", self._most()
        if warning.packets is not None:
            missed = " and ".join(warning.missed) or "the goals"
            return (
                f"{_packets(warning.packets)} would lose less than the {bound} that is usable, but "
                f"not meet {missed}: no size within the goals has a usable loss"
            )
        last, loss = max(self._tried_within(), default=(0, 0.0))
        if last < warning.largest and last >= _NEARLY * most:
            there = f"{100 * loss:.3g} % with {_packets(last)}"
            return f"no size within the goals has a usable loss of {bound}: {there}"
        there = f"{100 * warning.loss_there:.3g} % with {_packets(warning.largest)}"
        if warning.largest >= most:
            return f"no size within the goals has a usable loss of {bound}: {there}"
        return f"a usable loss of {bound} was not found: {there}, the largest that was tried"

    def _loss_is_unknown(self) -> bool:
        """Whether the loss of the whole link is unknown, because smaller windows were simulated."""
        there, scaled = self._found.there, self._found.scaled
        if scaled is None or there is None or there.link.loss_rate is not None:
            return False
        return self._problem.scenario.goals.loss_rate is None

    def _hold_bursts(self) -> Floor | None:
        """Take at least the floor of a fast link, if the goals leave room for it."""
        floor = floor_of(self._problem)
        if floor is None or self._found.aqm is not None:
            return None
        if floor.packets <= self._packets:
            return floor
        within = self._least_from(floor.packets)
        if within is None:
            self._why.append(f"the goals leave no room for {floor.why} ({floor.packets} packets)")
            return floor
        self._packets = within
        self._why.append(f"it holds {floor.why}")
        return floor

    def _least_from(self, packets: int) -> int | None:
        """Return the smallest size from ``packets`` on that meets the goals; None if none does."""
        fits = (max(packets, i.low) for i in self._region if end_of(i) >= packets)
        return min(fits, default=None)

    def _most(self) -> int:
        """Return the largest size that meets the goals, or that the search may try."""
        most = max(map(end_of, self._region), default=float(self._packets))
        return self._problem.limit if math.isinf(most) else int(most)


def floor_of(problem: Problem) -> Floor | None:
    """Return the least size for the bursts of hosts and neighbours; None on a slower link."""
    scenario = problem.scenario
    if float(scenario.link.capacity) < _FAST:
        return None
    packets = math.ceil((2 * _BURST + scenario.largest_packet) / int(scenario.packet))
    return Floor(packets=packets, why="two bursts of 64 KiB and one largest packet")


def part_from(region: Sequence[Interval], packets: int) -> tuple[Interval, ...]:
    """Return the parts of the region from a size on."""

    def parts() -> Iterator[Interval]:
        for each in region:
            if end_of(each) >= packets:
                yield each.model_copy(update={"low": max(each.low, packets)})

    return tuple(parts())


def end_of(interval: Interval) -> float:
    return math.inf if interval.high is None else float(interval.high)


def _packets(packets: int) -> str:
    return "1 packet" if packets == 1 else f"{packets} packets"
