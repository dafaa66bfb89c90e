"""All class queues of a port sized together: each in turn, the others as they are, until steady."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from forebay.outcome import Outcome, SizeResult
from forebay.outcome.class_queues import ClassQueueSize, ClassQueueSizes, JointGoal
from forebay.outcome.size_result import Verdict
from forebay.scenario import (
    ClassQueue,
    DataSize,
    Goals,
    Scenario,
    ScenarioError,
    expect_scenario,
)
from forebay.search.evidence import Evidence
from forebay.search.goals import goals_of
from forebay.words import Fact, argument

MOST_PASSES = 3
_BEFORE_THE_RUN = 0.95
"""Fraction of the work that is done at most before the run of the port."""
Sizing = Callable[["Scenario", float], "SizeResult"]
"""Sizes a scenario within so many seconds."""
Running = Callable[["Scenario"], "Outcome"]


def size_class_queues(
    scenario: Scenario,
    sizing: Sizing,
    running: Running,
    *,
    memory: str | None = None,
    budget_s: float = 240.0,
    progress: Callable[[float], None] | None = None,
) -> ClassQueueSizes:
    """Find a size for each class queue that has none, so that all goals are met together.

    A queue is sized by the goals of its own traffic, while the others have the sizes found last;
    the goals of ``[goals]`` are asked of queues whose traffic has none, or else of the one that is
    served last. This is repeated until no size leaves its interval, three times at most. Then the
    port is run with all sizes, and every goal is judged.

    Parameters
    ----------
    sizing, running : such as ``lambda s, seconds: forebay.size(s, budget=f"{seconds} s")``, and
        ``lambda s: forebay.run(s, seeds=5)``.
    memory : bytes that all class queues of the port share, such as "2 MB". If the sizes take more,
        each one that was sought is cut by one factor, and the goals that are then missed are said.

    Raises
    ------
    ScenarioError
        No class queues, or none without a size; a queue without traffic or without a goal; a share;
        written sizes that exceed the memory alone.
    """
    expect_scenario(scenario)
    limit = None if memory is None else int(DataSize.parse_argument(argument("memory"), memory))
    wanted = _to_size(scenario)
    least = sum(_bytes(scenario.with_class_buffers({queue.name: 1 for queue in wanted})))
    if limit is not None and least > limit:
        raise ScenarioError("out-of-range.memory", field=argument("memory"), least=least)
    # Strict ones are sized first, the default one last, as they are served.
    order = sorted(wanted, key=lambda queue: (queue.level, queue.default))
    joint = _Joint(scenario, sizing, [queue.name for queue in order], budget_s)
    passes, steady = joint.settle(progress)
    sizes = {name: size.packets for name, size in joint.found.items()}
    needed = sum(_bytes(scenario.with_class_buffers(sizes)))
    if limit is not None and needed > limit:
        sizes = _cut(scenario, sizes, limit)
    port = scenario.with_class_buffers(sizes)
    outcome = running(port)
    if progress is not None:
        progress(1.0)
    rows = tuple(joint.row(port, index) for index in range(len(port.queue.classes)))
    return ClassQueueSizes(
        engine=outcome.engine, class_queues=rows, bytes=sum(row.bytes for row in rows),
        wanted_bytes=needed, memory_bytes=limit, passes=passes, steady=steady,
        goals=_judged(port, outcome), outcome=outcome,
    )  # fmt: skip


def share_of_sizing(sought: int) -> float:
    """Return the share of the budget that one sizing has: two passes over the queues sought."""
    return 1.0 if sought == 1 else 1 / (2 * sought)


@dataclass(frozen=True, slots=True)
class _Found:
    """What the last sizing of a queue says."""

    packets: int
    low: int | None = None
    high: int | None = None
    error: str | Fact | None = None


@dataclass(slots=True)
class _Joint:
    """The sizes so far, by name of the class queue; ``order`` has those that are sought.

    ``alone`` is the scenario with the goals of one of them.
    """

    scenario: Scenario
    sizing: Sizing
    order: list[str]
    budget_s: float
    found: dict[str, _Found] = field(init=False)
    alone: dict[str, Scenario] = field(init=False)

    def __post_init__(self) -> None:
        start = self.scenario.buffer_packets
        self.found = {name: _Found(start) for name in self.order}
        self.alone = _with_own_goals(self.scenario, self.order)

    def settle(self, progress: Callable[[float], None] | None) -> tuple[int, bool]:
        """Size all queues again and again; return how often, and whether the sizes are steady."""
        began, share = time.monotonic(), share_of_sizing(len(self.order))
        until, seconds = began + self.budget_s, self.budget_s * share
        for turn in range(MOST_PASSES):
            before = dict(self.found)
            for place, name in enumerate(self.order):
                self.found[name] = self._sized(name, seconds)
                if progress is not None:
                    # A third pass comes only within the time: the two passes and the budget count.
                    sized = (turn * len(self.order) + place + 1) * share
                    spent = (time.monotonic() - began) / self.budget_s
                    progress(min(max(sized, spent), _BEFORE_THE_RUN))
            if len(self.order) == 1 or self._is_steady(before, turn):
                return turn + 1, True
            if time.monotonic() + seconds > until:
                return turn + 1, False
        return MOST_PASSES, False

    def _is_steady(self, before: dict[str, _Found], turn: int) -> bool:
        """Whether every size of the pass before is within the interval of this one."""
        return turn > 0 and all(
            size.low is None or size.high is None
            or size.low <= before[name].packets <= max(size.high, size.packets)
            for name, size in self.found.items()
        )  # fmt: skip

    def _sized(self, name: str, seconds: float) -> _Found:
        others = {other: size.packets for other, size in self.found.items() if other != name}
        answer = self.sizing(self.alone[name].with_class_buffers(others), seconds)
        least = answer.buffer
        if least is None:
            return replace(self.found[name], error=answer.reason or Fact("class-queues.none"))
        if answer.recommended is None:
            return _Found(least.high, least.low, least.high, answer.reason)
        return _Found(answer.recommended.packets, least.low, least.high)

    def row(self, port: Scenario, index: int) -> ClassQueueSize:
        queue = port.queue.classes[index]
        packets, _ = port.class_limits()[index]
        size = _bytes(port)[index]
        sized = self.found.get(queue.name)
        least = {} if sized is None else {"low": sized.low, "high": sized.high}
        return ClassQueueSize(
            name=queue.name, traffic=tuple(_traffic(port, index)), is_sized=sized is not None,
            packets=packets, bytes=size, seconds=8 * size / float(port.link.capacity),
            error=None if sized is None else sized.error, **least,
        )  # fmt: skip


def _traffic(scenario: Scenario, index: int) -> dict[str, bool]:
    """Return whether it has goals, for the traffic of a class queue by its name."""
    placed = zip(scenario.class_names, scenario.traffic, scenario.class_queue_of(), strict=True)
    return {name: group.goals is not None for name, group, place in placed if place == index}


def _to_size(scenario: Scenario) -> list[ClassQueue]:
    """Return the class queues without a size. Raises ScenarioError."""
    queues = scenario.queue.classes
    if not queues:
        raise ScenarioError("contradiction.one-queue", field="queue.discipline")
    wanted = [queue for queue in queues if queue.is_sized]
    if not wanted:
        raise ScenarioError("contradiction.all-have-sizes", field="queue.classes")
    for index, queue in enumerate(queues):
        place = f"queue.classes.{index}"
        if queue.share is not None:
            raise ScenarioError("contradiction.share-of-size", field=f"{place}.share")
        if not queue.is_sized:
            continue
        if not _traffic(scenario, index):
            raise ScenarioError("contradiction.no-traffic", field=place, name=queue.name)
        any_of_port = any(value is not None for _, value in scenario.goals)
        if not (any(_traffic(scenario, index).values()) or any_of_port):
            raise ScenarioError("contradiction.no-goal", field=place, name=queue.name)
    return wanted


def _bytes(scenario: Scenario) -> list[int]:
    """Return the bytes of each class queue, with the packets of its own traffic."""
    own = scenario.class_counts()
    return [
        packets * int(flows.packet if flows.classes else packet)
        for (packets, packet), flows in zip(scenario.class_limits(), own, strict=True)
    ]


def _cut(scenario: Scenario, sizes: dict[str, int], limit: int) -> dict[str, int]:
    """Return the sizes times one factor, so that all queues fit into the memory."""
    least = sum(_bytes(scenario.with_class_buffers(dict.fromkeys(sizes, 1))))
    most = sum(_bytes(scenario.with_class_buffers(sizes)))
    factor = (limit - least) / (most - least)
    return {name: 1 + int((packets - 1) * factor) for name, packets in sizes.items()}


def _with_own_goals(scenario: Scenario, order: Sequence[str]) -> dict[str, Scenario]:
    """Return the scenario with the goals of one class queue: of its traffic, or of the port."""
    places = {queue.name: i for i, queue in enumerate(scenario.queue.classes)}
    theirs = [name for name in order if not any(_traffic(scenario, places[name]).values())]
    alone = {}
    for name in order:
        asked: dict[str, object] = {
            f"traffic.{i}.goals": None
            for i, place in enumerate(scenario.class_queue_of())
            if place != places[name] and scenario.traffic[i].goals is not None
        }
        if name not in (theirs or order[-1:]):
            asked["goals"] = Goals()
        alone[name] = scenario.replace(asked)
    return alone


def _judged(scenario: Scenario, outcome: Outcome) -> tuple[JointGoal, ...]:
    goals = []
    # Without an interval a window in which the flows still climb would decide as if it were exact.
    settled = all(kind.settled is not False for kind in outcome.classes)
    for goal in goals_of(scenario):
        reached = goal.kind.read(Evidence(outcome))
        verdict = goal.judge(reached) if reached is not None and settled else Verdict.UNDECIDED
        text = str(goal)
        for index in reversed(range(len(scenario.traffic))):  # names instead of places
            text = text.replace(f"traffic.{index} ", f"{scenario.class_names[index]} ")
        goals.append(JointGoal(goal=text, verdict=verdict, reached=reached))
    return tuple(goals)
