"""Counters of a port after the change, judged against the answer that sized it."""

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from forebay.measure.estimate import MeasureError
from forebay.measure.records import bits_per_second
from forebay.measure.table import Stretch, busiest, hours, read
from forebay.outcome import SizeResult
from forebay.outcome.size_result import expect_answer
from forebay.scenario import Rate
from forebay.words import Fact, argument

Judged = Literal["too small", "too large", "as answered", "not tested", "add capacity"]

_BUSY = 0.9  # share of the answer's own utilization from which an hour tests its size
_OVERLOAD = 0.05  # loss at a full link that no buffer of a sensible size removes
_FULL = 0.98
_USABLE = 0.01
"""Loss that is usable where the answer has neither a goal on it nor a value of its own."""
_FEW = 0.1  # share of the loss that is allowed up to which a queue was hardly needed
_LOSING = ("too small", "add capacity")
_FEWEST_DROPS = 100  # drops of an hour that is not the busiest, from which its loss counts


@dataclass(frozen=True, slots=True)
class Expected:
    """What the answer says of the recommended size.

    Attributes
    ----------
    packets, packet_bytes, rate_bps : the size, its packet, and the rate of the queue.
    utilization : at the size; the goal if there is one.
    loss_rate : above which it counts as too small: the goal, else the end of the answer's own
        interval at the recommended size.
    wait_s : the goal on the mean or 99 % of the wait; None without one.
    """

    packets: int
    packet_bytes: int
    rate_bps: float
    utilization: float
    loss_rate: float
    wait_s: float | None

    @property
    def drain_s(self) -> float:
        """The wait behind a queue that is full: no mean is above it."""
        return self.packets * 8 * self.packet_bytes / self.rate_bps


@dataclass(frozen=True, slots=True)
class Seen:
    """A stretch of the table: utilization, loss and the mean wait, None where nothing says it."""

    when: str
    utilization: float
    loss_rate: float | None
    wait_s: float | None
    drops: int
    verdict: Judged


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a size, from the busiest hour of a table of counters, or one that loses more.

    Attributes
    ----------
    busy_hour : what was seen in it, with the verdict.
    lossy_hour : the hour with the most drops of those that say too small or add capacity, where the
        busiest does not; it decides then. None without one.
    expected : what the answer says.
    why, next_step : sentences.
    alarms : thresholds for the table's own polling interval, as sentences.
    hours : every hour of the table.
    source : the table's name.
    """

    busy_hour: Seen
    expected: Expected
    why: str
    next_step: str
    alarms: tuple[str, ...]
    hours: tuple[Seen, ...]
    source: str
    lossy_hour: Seen | None = None

    @property
    def verdict(self) -> Judged:
        """The verdict on the size."""
        return (self.lossy_hour or self.busy_hour).verdict

    @property
    def exit_status(self) -> int:
        """1 if the size should be changed, else 0."""
        return int(self.verdict in ("too small", "too large", "add capacity"))

    def to_dict(self) -> dict[str, Any]:
        """Return the document of ``measure --counters --answer --json``."""
        return {"schema": 1, "verdict": self.verdict, **asdict(self)}


def judge(
    table: str | os.PathLike[str], answer: SizeResult, *, rate: str | None = None
) -> Judgement:
    """Judge the size of an answer by the counters of the port that has it now.

    Parameters
    ----------
    table : CSV with ``time_s``, ``octets``, ``drops``, and if available ``packets`` and
        ``queue_packets``, as `counters` reads it.
    answer : of `forebay.size`, with a recommended size.
    rate : of the link; None takes the answer's.

    Raises MeasureError if the file is no such table, or the answer recommends no size.
    """
    expect_answer(answer)
    expected = _expected(answer, rate)
    rows = read(table, expected.rate_bps)
    busy = busiest(rows)
    seen = _seen(busy, expected)
    why = _why(seen, expected, busy.name)
    then = why.hint
    if rows.packets is None:
        why = Fact("judged.assuming", why=why, size=expected.packet_bytes)
    every = tuple(_seen(hour, expected) for hour in hours(rows))
    losing = [s for s in every if s.verdict in _LOSING and s.drops >= _FEWEST_DROPS]
    lossy = None
    if seen.verdict not in _LOSING:
        lossy = max(losing, key=lambda hour: hour.drops, default=None)
    if lossy is not None:
        more = _why(lossy, expected, Fact("judged.other-hour"))
        why, then = Fact("judged.both", more=more, why=why), more.hint
    return Judgement(
        seen, expected, str(why), str(then),
        tuple(map(str, _alarms(expected, float(np.median(rows.seconds))))),
        every, os.fspath(table), lossy,
    )  # fmt: skip


def _expected(answer: SizeResult, rate: str | None) -> Expected:
    size, there = answer.recommended, answer.there
    if size is None or there is None or answer.aqm is not None or answer.of:
        other = Fact("judged.of-no-queue", of=answer.of) if answer.of else Fact("judged.an-aqm")
        why = answer.reason or other
        raise MeasureError("measure.no-size", field=argument("answer"), why=why)
    near = min(answer.curve, key=lambda point: abs(point.packets - size.packets))
    goals = {goal.name: goal.target for goal in answer.goals}
    bps = 8 * size.bytes / size.seconds if rate is None else bits_per_second(rate)
    own, used = near.link.loss_rate, near.link.utilization
    most = _USABLE if own is None else max(own.value if own.high is None else own.high, 1e-6)
    waits = [goals[name] for name in ("queue_delay_mean", "queue_delay_p99") if name in goals]
    return Expected(
        packets=size.packets,
        packet_bytes=size.bytes // size.packets,
        rate_bps=bps,
        utilization=goals.get("utilization", 1.0 if used is None else float(used.value)),
        loss_rate=goals.get("loss_rate", most),
        wait_s=min(waits, default=None),
    )


def _seen(stretch: Stretch, expected: Expected) -> Seen:
    rows = stretch.rows
    used = float(rows.octets.sum()) * 8 / (stretch.seconds * expected.rate_bps)
    sent = rows.octets / expected.packet_bytes if rows.packets is None else rows.packets
    dropped, arrived = float(rows.drops.sum()), float(rows.drops.sum() + sent.sum())
    lost = dropped / arrived if arrived > 0 else None
    wait = None
    if rows.queue_packets is not None:
        wait = float(rows.queue_packets.mean()) * 8 * expected.packet_bytes / expected.rate_bps
    verdict = _verdict(used, lost, wait, expected)
    return Seen(stretch.when, used, lost, wait, round(dropped), verdict)


def _verdict(used: float, lost: float | None, wait: float | None, expected: Expected) -> Judged:
    loses = lost is not None and lost > expected.loss_rate
    if loses and lost is not None and lost > _OVERLOAD and used >= _FULL:
        return "add capacity"
    if loses:
        return "too small"
    most = expected.drain_s if expected.wait_s is None else min(expected.wait_s, expected.drain_s)
    if wait is not None and wait > most:
        return "too large"
    return "as answered" if used >= _BUSY * expected.utilization else "not tested"


_WHY: dict[Judged, str] = {
    "add capacity": "judged.add-capacity", "too small": "judged.too-small",
    "too large": "judged.too-large", "as answered": "judged.as-answered",
    "not tested": "judged.not-tested",
}  # fmt: skip


def _why(seen: Seen, expected: Expected, where: Fact) -> Fact:
    """Return why; its hint is what to do."""
    lost, wait_s, tested = seen.loss_rate or 0.0, seen.wait_s or 0.0, _BUSY * expected.utilization
    return Fact(
        _WHY[seen.verdict], busy=Fact("judged.busy", where=where, seen=seen), drops=seen.drops,
        lost=100 * lost, most=100 * expected.loss_rate, tested=tested,
        bursts=seen.utilization < tested, needed=lost > _FEW * expected.loss_rate,
        waited=1e3 * wait_s, larger=wait_s > expected.drain_s, drain=1e3 * expected.drain_s,
        packets=expected.packets, goal=1e3 * (expected.wait_s or 0.0),
    )  # fmt: skip


def _alarms(expected: Expected, every_s: float) -> Iterator[Fact]:
    """Yield the thresholds of each polling interval."""
    per_s, share = expected.rate_bps / 8 / expected.packet_bytes, _BUSY * expected.utilization
    most = max(1, round(expected.loss_rate * per_s * every_s))
    yield Fact("alarm.drops", every=every_s, most=most, share=100 * expected.loss_rate)
    octets, rate = round(share * expected.rate_bps / 8 * every_s), Rate(expected.rate_bps)
    yield Fact("alarm.octets", every=every_s, octets=octets, share=share, rate=rate)
    if expected.wait_s is not None:
        yield Fact("alarm.queue", packets=max(1, round(expected.wait_s * per_s)))
