"""Several class queues of a port as configuration, for the platforms that have them.

The scenario has a size for each class queue. Junos: a scheduler for each forwarding class. IOS-XE:
a class of one policy-map for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from forebay.platforms.errors import PlatformError
from forebay.platforms.port import Port
from forebay.platforms.reading import Note, burst_unwritten, note, say_time, trap, uncertain
from forebay.platforms.registry import get

if TYPE_CHECKING:
    from forebay.scenario import ClassQueue, Scenario

_JUNOS_LEVELS = ("strict-high", "high", "medium-high", "medium-low")
_JUNOS_QUEUES, _IOS_LEVELS = 8, 2
_MOST_RATIO = 1000


@dataclass(frozen=True, slots=True)
class ClassLimit:
    """A class queue with its limit."""

    queue: ClassQueue
    packets: int
    bytes: int

    def said(self, port: Port) -> str:
        """Return the limit in the packets of its own traffic, with its name."""
        own, time = self.bytes // self.packets, say_time(port.seconds(self.bytes))
        size = f"{self.packets} packets of {own} B = {self.bytes} B = {time} at the port's rate"
        return f"{self.queue.name}: {size}"


@dataclass(frozen=True, slots=True)
class ClassEmission:
    """Configuration of several class queues; ``text`` has the notes as comments."""

    platform: str
    comment: str
    limits: tuple[ClassLimit, ...]
    port: Port
    lines: tuple[str, ...]
    notes: tuple[Note, ...]

    @property
    def text(self) -> str:
        """The lines to paste, after the comments."""
        wanted = (limit.said(self.port) for limit in self.limits)
        said = (f"{self.comment} {line}" for line in (*wanted, *map(str, self.notes)))
        return "\n".join((*said, *self.lines)) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return {
            "schema": 1, "platform": self.platform, "configuration": list(self.lines),
            "class_queues": [
                {"name": x.queue.name, "packets": x.packets, "bytes": x.bytes} for x in self.limits
            ],
            "notes": [asdict(note) for note in self.notes],
        }  # fmt: skip


def check_class_platform(platform: str) -> None:
    """Refuse a platform for which class queues are not written. Raises PlatformError."""
    get(platform)
    if platform not in _WRITERS:
        wrong = f"several class queues are not written for {platform}"
        raise PlatformError("class-queues", wrong, f"write {' or '.join(_WRITERS)}")


def emit_classes(
    scenario: Scenario, platform: str, *, interface: str | None = None
) -> ClassEmission:
    """Return the class queues of a scenario's link as configuration.

    Raises PlatformError if the platform has no such queues, or cannot express priorities, rates or
    sizes.
    """
    check_class_platform(platform)
    chosen = get(platform)
    link = scenario.link
    served = float(link.capacity)
    port = Port(served, int(scenario.packet), line_bps=None if link.shaper is None else link.rate)
    limits = tuple(
        ClassLimit(queue, packets, packets * int(own.packet if own.classes else packet))
        for queue, (packets, packet), own in zip(
            scenario.queue.classes, scenario.class_limits(), scenario.class_counts(), strict=True
        )
    )
    lines = _WRITERS[platform](limits, port, interface or chosen.port_name(port.line))
    notes = []
    early = [queue.name for queue in scenario.queue.classes if queue.red is not None]
    if early:
        notes.append(trap(f"RED of {', '.join(early)} is not written: add a drop profile"))
    if any(queue.burst is not None for queue in scenario.queue.classes):
        notes.append(trap("the burst of a class's shaper is not written"))
    if link.shaper is not None and link.shaper.depth:
        why = "the port's lines have the rate alone"
        notes.append(burst_unwritten(link.shaper.depth, why))
    notes += _OWN_NOTES[platform]
    assert chosen.comment is not None, "both have comments"
    return ClassEmission(platform, chosen.comment, limits, port, tuple(lines), tuple(notes))


def _levels(limits: Sequence[ClassLimit], most: int, platform: str) -> list[int]:
    """Return the strict levels in order. Raises PlatformError if there are too many."""
    levels = sorted({x.queue.level for x in limits if x.queue.priority is not None})
    if len(levels) > most:
        wrong = f"{len(levels)} strict priorities, and {platform} has {most}"
        raise PlatformError("class-queues", wrong, "give some class queues the same")
    return levels


def _junos(limits: Sequence[ClassLimit], port: Port, interface: str) -> Iterator[str]:
    if len(limits) > _JUNOS_QUEUES:
        wrong = f"{len(limits)} class queues, and a port has {_JUNOS_QUEUES}"
        raise PlatformError("class-queues", wrong, "put some traffic together")
    cos, levels = "set class-of-service", _levels(limits, len(_JUNOS_LEVELS), "Junos")
    percents = _percents([x for x in limits if x.queue.priority is None], port)
    for number, each in enumerate(limits):
        queue, own = each.queue, f"{cos} schedulers {each.queue.name}"
        yield f"{cos} forwarding-classes class {queue.name} queue-num {number}"
        yield f"{own} buffer-size temporal {port.microseconds(each.bytes)}"
        if queue.priority is not None:
            yield f"{own} priority {_JUNOS_LEVELS[levels.index(queue.level)]}"
        elif queue.min_rate is not None:
            yield f"{own} transmit-rate {round(queue.min_rate)}"
        else:
            yield f"{own} transmit-rate percent {percents[queue.name]}"
        if queue.max_rate is not None:
            yield f"{own} shaping-rate {round(queue.max_rate)}"
        fits = f"{cos} scheduler-maps FOREBAY forwarding-class {queue.name}"
        yield f"{fits} scheduler {queue.name}"
    yield f"{cos} interfaces {interface} scheduler-map FOREBAY"
    if port.is_shaped:
        yield f"{cos} interfaces {interface} shaping-rate {port.rate_in()}"


def _percents(limits: Sequence[ClassLimit], port: Port) -> dict[str, int]:
    """Return whole per cent of the rate by weight: of what guaranteed rates leave, 1 at least."""
    promised = sum(float(x.queue.min_rate or 0) for x in limits) / port.rate_bps
    shared = [x.queue for x in limits if x.queue.min_rate is None]
    left = int(100 * (1 - promised) + 1e-9) - len(shared)
    if shared and left < 0:
        wrong = "guaranteed rates leave less than 1 % for each other class"
        raise PlatformError("class-queues", wrong, "write smaller ones")
    total = sum(queue.weight for queue in shared)
    exact = {queue.name: left * queue.weight / total for queue in shared}
    found = {name: 1 + int(share) for name, share in exact.items()}
    spare = left + len(shared) - sum(found.values())
    for name in sorted(exact, key=lambda name: int(exact[name]) - exact[name])[:spare]:
        found[name] += 1
    return found


def _ios_xe(limits: Sequence[ClassLimit], port: Port, interface: str) -> Iterator[str]:
    levels = _levels(limits, _IOS_LEVELS, "IOS-XE")
    ratios = _ratios([x.queue for x in limits if x.queue.priority is None])
    yield "policy-map FOREBAY"
    for each in sorted(limits, key=lambda x: x.queue.default):
        queue = each.queue
        if queue.min_rate is not None:
            wrong = f"min_rate of {queue.name}: bandwidth does not go with a remaining ratio"
            raise PlatformError("class-queues", wrong, "leave min_rate out, or write junos")
        yield f" class {'class-default' if queue.default else queue.name}"
        if queue.priority is not None:
            yield f"  priority level {1 + levels.index(queue.level)}"
        else:
            yield f"  bandwidth remaining ratio {ratios[queue.name]}"
        if queue.max_rate is not None:
            yield f"  shape average {round(queue.max_rate)}"
        yield f"  queue-limit {each.packets} packets"
    policy = "FOREBAY"
    if port.is_shaped:
        policy = "FOREBAY-PORT"
        yield from (f"policy-map {policy}", " class class-default")
        yield from (f"  shape average {port.rate_in()}", "  service-policy FOREBAY")
    yield from ("!", f"interface {interface}", f" service-policy output {policy}", "!")


def _ratios(queues: Sequence[ClassQueue]) -> dict[str, int]:
    """Return weights as whole numbers up to 1000, exact if tenths of them are."""
    if not queues:
        return {}
    weights = [queue.weight for queue in queues]
    scales = (1, 2, 4, 5, 10, 20, 50, 100, _MOST_RATIO / max(weights))
    fits = [s for s in scales if max(weights) * s <= _MOST_RATIO] or [_MOST_RATIO / max(weights)]
    scale = next((s for s in fits if all((w * s).is_integer() for w in weights)), fits[-1])
    return {queue.name: max(1, round(queue.weight * scale)) for queue in queues}


_WRITERS: dict[str, Callable[[Sequence[ClassLimit], Port, str], Iterator[str]]] = {
    "junos": _junos,
    "ios-xe": _ios_xe,
}
_STRICT = trap("a strict class takes all that it is sent: police it")
_OWN_NOTES = {
    "junos": (
        note("classifiers that put packets into these forwarding classes are yours"),
        uncertain(
            "a buffer-size in time is read at the port's rate; some releases take the class's"
        ),
        _STRICT,
    ),
    "ios-xe": (note("class-maps of these names must match the traffic"), _STRICT),
}
