"""Many ports from a table: one sizing each, kept as they end, the most uncertain ones first."""

from __future__ import annotations

import csv
import io
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.laws.hashed_members import Group
from forebay.outcome.class_queues import ClassQueueSize, ClassQueueSizes, JointGoal
from forebay.outcome.size_result import Verdict
from forebay.scenario import (
    BufferSize,
    DataSize,
    Goals,
    Rate,
    ScenarioError,
    expect_scenario,
    loads,
)
from forebay.scenario.io import quoted
from forebay.scenario.source import FlowCount

if TYPE_CHECKING:
    from forebay.outcome import Outcome, SizeResult
    from forebay.scenario import ClassQueue, Scenario


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
    limit = None if memory is None else int(DataSize.parse_argument("memory", memory))
    wanted = _to_size(scenario)
    _check_memory(scenario, limit, wanted)
    joint = _Joint(scenario, sizing, _in_order(scenario, wanted), budget_s)
    passes, steady = joint.settle(progress)
    sizes = {name: found.packets for name, found in joint.found.items()}
    needed = sum(_bytes(_written(scenario, sizes)))
    if limit is not None and needed > limit:
        sizes = _cut(scenario, sizes, limit)
    port = _written(scenario, sizes)
    outcome = running(port)
    if progress is not None:
        progress(1.0)
    rows = tuple(joint.row(port, index) for index in range(len(port.queue.classes)))
    return ClassQueueSizes(
        outcome.engine, rows, needed, limit, passes, steady, _judged(port, outcome), outcome
    )


def share_of_sizing(sought: int) -> float:
    """Return the share of the budget that one sizing has: two passes over the queues sought."""
    return 1.0 if sought == 1 else 1 / (2 * sought)


@dataclass(frozen=True, slots=True)
class _Found:
    """What the last sizing of a queue says."""

    packets: int
    low: int | None = None
    high: int | None = None
    error: str | None = None


@dataclass(slots=True)
class _Joint:
    """The sizes so far, by name of the class queue; ``order`` has those that are sought."""

    scenario: Scenario
    sizing: Sizing
    order: list[str]
    budget_s: float
    found: dict[str, _Found] = field(init=False)

    def __post_init__(self) -> None:
        start = self.scenario.buffer_packets
        self.found = {name: _Found(start) for name in self.order}

    def settle(self, progress: Callable[[float], None] | None) -> tuple[int, bool]:
        """Size all queues again and again; return how often, and whether the sizes are steady."""
        began, share = time.monotonic(), share_of_sizing(len(self.order))
        until, each = began + self.budget_s, self.budget_s * share
        for turn in range(MOST_PASSES):
            before = dict(self.found)
            for place, name in enumerate(self.order):
                self.found[name] = self._sized(name, each)
                if progress is not None:
                    # A third pass comes only within the time: the two passes and the budget count.
                    sized = (turn * len(self.order) + place + 1) * share
                    spent = (time.monotonic() - began) / self.budget_s
                    progress(min(max(sized, spent), _BEFORE_THE_RUN))
            if len(self.order) == 1 or self._is_steady(before, turn):
                return turn + 1, True
            if time.monotonic() + each > until:
                return turn + 1, False
        return MOST_PASSES, False

    def _is_steady(self, before: dict[str, _Found], turn: int) -> bool:
        """Whether every size of the pass before is within the interval of this one."""
        return turn > 0 and all(
            found.low is None or found.high is None
            or found.low <= before[name].packets <= max(found.high, found.packets)
            for name, found in self.found.items()
        )  # fmt: skip

    def _sized(self, name: str, seconds: float) -> _Found:
        others = {each: found.packets for each, found in self.found.items() if each != name}
        answer = self.sizing(_alone(_written(self.scenario, others), name, self.order), seconds)
        least = answer.buffer
        if least is None:
            return replace(self.found[name], error=answer.reason or "no size meets its goals")
        if answer.recommended is None:
            return _Found(least.high, least.low, least.high, answer.reason)
        return _Found(answer.recommended.packets, least.low, least.high)

    def row(self, port: Scenario, index: int) -> ClassQueueSize:
        queue = port.queue.classes[index]
        packets, _ = port.class_limits()[index]
        size = _bytes(port)[index]
        found = self.found.get(queue.name)
        of = tuple(_traffic(port, index))
        seconds = 8 * size / float(port.link.capacity)
        if found is None:
            return ClassQueueSize(queue.name, of, False, packets, size, seconds)
        return ClassQueueSize(
            queue.name, of, True, packets, size, seconds, found.low, found.high, found.error
        )


def _traffic(scenario: Scenario, index: int) -> list[str]:
    """Return the names of the traffic in a class queue."""
    placed = zip(scenario.class_names, scenario.class_queue_of(), strict=True)
    return [name for name, place in placed if place == index]


def _to_size(scenario: Scenario) -> list[str]:
    """Return the names of the class queues without a size. Raises ScenarioError."""
    queues = scenario.queue.classes
    if not queues:
        raise _refused_class("queue.discipline", "there is one queue", "write [[queue.classes]]")
    found = [queue.name for queue in queues if queue.is_sized]
    if not found:
        raise _refused_class("queue.classes", "each has a size", "leave out those to be sized")
    for index, queue in enumerate(queues):
        place = f"queue.classes.{index}"
        if queue.share is not None:
            hint = "leave it out: each queue gets a size of its own"
            raise _refused_class(f"{place}.share", "divides one size", hint)
        if not queue.is_sized:
            continue
        if not _traffic(scenario, index):
            raise _refused_class(
                place, f"{queue.name} has no traffic", 'write a size, "64 packets"'
            )
        if not (_has_goals(scenario, index) or _given(scenario.goals)):
            hint = "write goals = { loss_rate = 0.01 } in its [[traffic]], or [goals]"
            raise _refused_class(place, f"no goal is on the traffic of {queue.name}", hint)
    return found


def _refused_class(field: str, wrong: str, hint: str) -> ScenarioError:
    return ScenarioError("contradiction", wrong, hint, field=field)


def _has_goals(scenario: Scenario, index: int) -> bool:
    placed = zip(scenario.traffic, scenario.class_queue_of(), strict=True)
    return any(group.goals is not None for group, place in placed if place == index)


def _given(goals: Goals) -> bool:
    return any(value is not None for _, value in goals)


def _check_memory(scenario: Scenario, limit: int | None, wanted: Sequence[str]) -> None:
    """Refuse a memory that the written sizes, and a packet of each other queue, exceed."""
    least = sum(_bytes(_written(scenario, dict.fromkeys(wanted, 1))))
    if limit is not None and least > limit:
        wrong = f"the sizes that are written, and a packet of each other queue, take {least} B"
        raise ScenarioError("out-of-range", wrong, "write more, or smaller sizes", field="memory")


def _in_order(scenario: Scenario, names: Sequence[str]) -> list[str]:
    """Return the queues in the order of service: strict ones first, the default one last."""
    queues = [queue for queue in scenario.queue.classes if queue.name in names]
    return [each.name for each in sorted(queues, key=lambda each: (each.level, each.default))]


def _written(scenario: Scenario, sizes: dict[str, int]) -> Scenario:
    """Return the scenario with these packets as sizes of class queues."""
    limits = scenario.class_limits()
    classes = []
    for queue, (_, packet) in zip(scenario.queue.classes, limits, strict=True):
        size = None if queue.name not in sizes else _size(queue, sizes[queue.name], int(packet))
        classes.append(queue if size is None else queue.model_copy(update={"size": size}))
    changed = scenario.queue.model_copy(update={"classes": tuple(classes)})
    return scenario.model_copy(update={"queue": changed})


def _size(queue: ClassQueue, packets: int, packet: int) -> BufferSize:
    """Return a number of packets as a size; a queue that counts bytes has those of its sizing."""
    if queue.discipline == "drop-tail":
        return BufferSize(float(packets), "packets")
    return BufferSize(float(packets * packet), "bytes")


def _bytes(scenario: Scenario) -> list[int]:
    """Return the bytes of each class queue, with the packets of its own traffic."""
    own = scenario.class_counts()
    return [
        packets * int(each.packet if each.classes else packet)
        for (packets, packet), each in zip(scenario.class_limits(), own, strict=True)
    ]


def _alone(scenario: Scenario, name: str, order: Sequence[str]) -> Scenario:
    """Return the scenario with the goals of one class queue: of its traffic, or of the port."""
    index = next(i for i, each in enumerate(scenario.queue.classes) if each.name == name)
    traffic = tuple(
        group if place == index else group.model_copy(update={"goals": None})
        for group, place in zip(scenario.traffic, scenario.class_queue_of(), strict=True)
    )
    places = {each.name: i for i, each in enumerate(scenario.queue.classes)}
    theirs = [each for each in order if not _has_goals(scenario, places[each])]
    asked = name in theirs if theirs else name == order[-1]
    goals = scenario.goals if asked else Goals()
    return scenario.model_copy(update={"traffic": traffic, "goals": goals})


def _cut(scenario: Scenario, sizes: dict[str, int], limit: int) -> dict[str, int]:
    """Return the sizes times one factor, so that all queues fit into the memory."""
    least = sum(_bytes(_written(scenario, dict.fromkeys(sizes, 1))))
    most = sum(_bytes(_written(scenario, sizes)))
    factor = (limit - least) / (most - least)
    return {name: 1 + int((packets - 1) * factor) for name, packets in sizes.items()}


def _judged(scenario: Scenario, outcome: Outcome) -> tuple[JointGoal, ...]:
    from forebay.search.evidence import Evidence
    from forebay.search.goals import goals_of

    found = []
    # Without an interval a window in which the flows still climb would decide as if it were exact.
    settled = all(each.settled is not False for each in outcome.classes)
    for goal in goals_of(scenario):
        reached = goal.kind.read(Evidence(outcome))
        verdict = Verdict.UNDECIDED
        if reached is not None and settled:
            verdict = goal.judge(reached)
        found.append(JointGoal(_words(scenario, str(goal)), reached, verdict))
    return tuple(found)


def _words(scenario: Scenario, text: str) -> str:
    """Return a goal with the names of traffic classes instead of their places."""
    for index in reversed(range(len(scenario.traffic))):
        text = text.replace(f"traffic.{index} ", f"{scenario.class_names[index]} ")
    return text


_NEEDED = ("name", "rate")
_KNOWN = (
    *_NEEDED, "n", "load", "rtt", "platform", "interface", "utilization", "loss_rate",
    "queue_delay_p99", "congestion_control", "members", "largest_flows", "largest_share",
)  # fmt: skip
_GOALS = ("utilization", "loss_rate", "queue_delay_p99")
_MOST_BYTES, _MOST_PORTS = 1 << 20, 10_000
_BURST = '"100 kB"'


@dataclass(frozen=True, slots=True)
class PortRow:
    """A line of the table: its scenario, and the platform and interface to configure.

    ``note`` says what a member of a LAG or an ECMP group is sized for, ``error`` why it cannot be;
    None for a port.
    """

    name: str
    scenario: Scenario
    platform: str | None
    interface: str | None
    note: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class SizedPort:
    """A port with its answer; ``error`` is one line where it could not be sized."""

    row: PortRow
    answer: SizeResult | None
    error: str | None = None

    @property
    def uncertainty(self) -> float:
        """Ratio of the ends of the interval of the least; infinite without an answer."""
        if self.answer is None or self.answer.buffer is None or self.answer.recommended is None:
            return float("inf")
        buffer = self.answer.buffer
        return buffer.high / max(buffer.low, 1)


def read_ports(path: str, overrides: Sequence[str] = ()) -> list[PortRow]:
    """Read a table of ports: name, rate, n or load, rtt, and more columns that are optional.

    ``n`` long flows, or ``"50..200"`` of them; ``load`` is the share of the rate that short
    flows bring, beside n or alone. With ``members`` the port is a LAG or an ECMP group of so many,
    whose rate, n and load are given: a member is sized. ``largest_flows`` flows bring
    ``largest_share`` of its load. ``rtt`` is a time or ``"10 ms..90 ms"``. Goals are
    utilization, loss_rate and queue_delay_p99; a utilization of 0.98 with n until one is given, and
    a loss of 0.005 without n where no goal is. ``overrides`` are ``PATH=VALUE`` strings for every
    port's scenario, as in `forebay.load`.

    Raises
    ------
    ScenarioError
        It names the line.
    """
    rows = list(csv.DictReader(io.StringIO(_text(path), newline=""), skipinitialspace=True))
    if not rows or len(rows) > _MOST_PORTS:
        raise _refused(path, f"has {len(rows)} ports", f"write 1 to {_MOST_PORTS} lines of them")
    columns = [name.strip() for name in rows[0] if name]
    unknown = [name for name in columns if name not in _KNOWN]
    missing = [name for name in _NEEDED if name not in columns]
    if unknown or missing:
        wrong = f"has no column {missing[0]}" if missing else f'has a column "{unknown[0][:40]}"'
        raise _refused(path, wrong, f"write a header of {', '.join(_KNOWN)}")
    found = [_row(path, line, row, overrides) for line, row in enumerate(rows, 2)]
    names = [row.name for row in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise _refused(path, f'has two ports "{twice}"', "give each a name of its own")
    return found


def _text(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
        if len(raw) > _MOST_BYTES:
            raise _refused(path, f"is longer than {_MOST_BYTES} bytes", "divide it")
        return raw.decode("utf-8-sig")
    except OSError as error:
        wrong = f"cannot be read ({error.strerror})"
        raise _refused(path, wrong, "write the path of a table of ports") from None
    except UnicodeDecodeError:
        raise _refused(path, "is not UTF-8", "save it as text") from None


def _row(path: str, line: int, row: dict[str, str | None], overrides: Sequence[str]) -> PortRow:
    cells = {
        key.strip(): (value or "").strip() for key, value in row.items() if isinstance(key, str)
    }
    if None in row or not cells.get("name"):
        wrong = "has more cells than the header" if None in row else "has no name"
        raise _refused(path, f"line {line} {wrong}", "quote cells with commas")
    cells, note, error = _member(path, line, cells)
    text = "\n".join(_toml(path, line, cells))
    scenario = loads(text, source=f"{path}: line {line}", overrides=overrides)
    platform, interface = (cells.get(name) or None for name in ("platform", "interface"))
    return PortRow(cells["name"], scenario, platform, interface, note, error)


def _member(
    path: str, line: int, cells: dict[str, str]
) -> tuple[dict[str, str], str | None, str | None]:
    """Return the cells of a member of a group, what it is sized for, and why it cannot be."""
    if not cells.get("members"):
        for name in ("largest_flows", "largest_share"):
            if cells.get(name):
                wrong = f"line {line} has {name} without members"
                raise _refused(path, wrong, "write how many members the LAG or ECMP group has")
        return cells, None, None

    try:
        return member(cells)
    except ScenarioError as error:
        raise _refused(path, f"line {line}: {error.wrong}", error.hint) from None


def _toml(path: str, line: int, cells: dict[str, str]) -> Iterator[str]:
    """Yield the lines of a port's scenario."""
    n, load = cells.get("n", ""), cells.get("load", "")
    if not n and not load:
        raise _refused(path, f"line {line} has neither n nor load", "write one of them")
    yield f"name = {quoted(cells['name'])}"
    yield f"[link]\nrate = {quoted(cells['rate'])}"
    same = list(_common(cells))
    if n:
        flows = n if n.isdigit() else quoted(n)
        yield from ("[[traffic]]", f"flows = {flows}", *same)
    if load:
        yield from ("[[traffic]]", 'kind = "short"', f"length = {_BURST}", f"load = {load}", *same)
    yield "[goals]"
    usual = {"utilization": "0.98"} if n else {"loss_rate": "0.005"}
    goals = {name: cells[name] for name in _GOALS if cells.get(name)} or usual
    for name, value in goals.items():
        yield f"{name} = {quoted(value) if name == 'queue_delay_p99' else value}"


def _common(cells: dict[str, str]) -> Iterator[str]:
    low, both, high = cells.get("rtt", "").partition("..")
    if low:
        ends = f"{{ uniform = [{quoted(low.strip())}, {quoted(high.strip())}] }}"
        yield f"rtt = {ends if both else quoted(low.strip())}"
    if cells.get("congestion_control"):
        yield f"congestion_control = {quoted(cells['congestion_control'])}"


def _refused(path: str, wrong: str, hint: str) -> ScenarioError:
    return ScenarioError("ports", f"{path} {wrong}", hint)


def size_ports(rows: list[PortRow], size: Callable[[Scenario], SizeResult]) -> Iterator[SizedPort]:
    """Yield each port with its answer, in the order of the table; an error is that port's alone."""
    from forebay.errors import ForebayError

    for row in rows:
        if row.error is not None:
            yield SizedPort(row, None, row.error)
            continue
        try:
            yield SizedPort(row, size(row.scenario))
        except ForebayError as error:
            partial = getattr(error, "result", None)
            yield SizedPort(row, partial, str(error))


def most_uncertain_first(ports: list[SizedPort]) -> list[SizedPort]:
    """Sort by how little the evidence decides: without an answer first."""
    return sorted(ports, key=lambda port: -port.uncertainty)


_MOST_MEMBERS = 4096
_WHOLE = re.compile(r"[0-9]{1,9}")


def member(cells: dict[str, str]) -> tuple[dict[str, str], str, str | None]:
    """Return the cells of a member, what it is sized for, and why no size can serve it.

    Raises
    ------
    ScenarioError
        A number that cannot be.
    """
    error = None
    group = _group(cells)
    made, said = dict(cells), [f"a member of {group.members}"]
    made["rate"] = str(Rate(float(Rate.parse(cells["rate"])) / group.members))
    if cells.get("n"):
        text = cells["n"]
        flows = FlowCount.parse(int(text) if text.isdigit() else text)
        low, high = group.flows(flows.low, flows.high)
        made["n"] = str(low) if low == high else f"{low}..{high}"
        said.append(f"{made['n']} of {text} flows")
    if cells.get("load"):
        mean = _number("load", cells["load"], 1e-6, 10.0)
        load = group.load(mean)
        error = _overloaded(group, mean, load) if load >= 1.0 else None
        made["load"] = f"{load:.6g}"
        said.append(f"offered {load:.0%} where the group is offered {mean:.0%}")
        if not group.largest_flows:
            said.append("no largest_flows given: the load is counted as spread evenly")
    return made, ", ".join(said), error


def _group(cells: dict[str, str]) -> Group:
    members = _count("members", cells["members"], 2, _MOST_MEMBERS)
    flows, share = cells.get("largest_flows", ""), cells.get("largest_share", "")
    if not flows and not share:
        return Group(members)
    if not flows or not share:
        missing = "largest_share" if flows else "largest_flows"
        wrong = f"{missing} is missing: the two belong together"
        raise ScenarioError("missing", wrong, "write how many flows bring which share of the load")
    many = _count("largest_flows", flows, 1, 10_000_000)
    return Group(members, many, _number("largest_share", share, 0.0, 1.0))


def _count(name: str, text: str, least: int, most: int) -> int:
    if _WHOLE.fullmatch(text) and least <= int(text) <= most:
        return int(text)
    hint = f"write a whole number from {least} to {most}"
    raise ScenarioError("out-of-range", f"{name} is {text[:40]!r}", hint)


def _number(name: str, text: str, least: float, most: float) -> float:
    try:
        found = float(text)
    except ValueError:
        found = float("nan")
    if least <= found <= most:
        return found
    hint = f"write a number from {least:g} to {most:g}, such as 0.3"
    raise ScenarioError("out-of-range", f"{name} is {text[:40]!r}", hint)


def _overloaded(group: Group, mean: float, load: float) -> str:
    return (
        f"hashing may bring the fullest of {group.members} members {load:.0%} of its rate, where "
        f"the group is offered {mean:.0%}: add capacity, or place the largest flows by hand"
    )
