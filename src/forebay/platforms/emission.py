"""A size as configuration of one platform, and several class queues of a port.

A scenario has a size for each class queue. Junos: a scheduler for each forwarding class. IOS-XE: a
class of one policy-map for each.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from forebay.catalogue import DISCIPLINES
from forebay.outcome import Aqm
from forebay.platforms import reading
from forebay.platforms.notes import Note, note, trap, uncertain
from forebay.platforms.registry import Order, Platform, get, mark, names
from forebay.platforms.snippet import PlatformError, Snippet, short
from forebay.platforms.target import port_of
from forebay.scenario import ClassQueue, Rate, Scenario
from forebay.words import one_line

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,39}")  # names of objects that every platform takes
_LONGEST = 15  # so that no port's name ends as the second object of another one does (Junos)


def object_names(ports: Sequence[str]) -> list[str]:
    """Return a name for each port, derived from its own, that differs also without regard to case.

    A single port has "FOREBAY".
    """
    if len(ports) == 1:
        return ["FOREBAY"]
    objects: dict[str, str] = {}
    for port in ports:
        plain = unicodedata.normalize("NFKD", port).encode("ascii", "ignore").decode()
        own = re.sub(r"[^A-Za-z0-9]+", "-", plain).strip("-")[:_LONGEST].rstrip("-") or "port"
        name, number = own, 1
        while name.lower() in objects:
            number += 1
            name = f"{own[: _LONGEST - len(str(number)) - 1]}-{number}"
        objects[name.lower()] = f"FOREBAY-{name}"
    return list(objects.values())


_MARKS = ("nx-os", "sonic", "eos")  # platforms for which a step of ECN marks can be written

_LIMITLESS = ("cake", "cobalt")  # without a limit that tc writes; cobalt is in Linux's cake

_INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./:@-]{0,63}")


def _pasted(mark: str | None, comments: Iterable[str], lines: Iterable[str]) -> str:
    return _told(mark, () if mark is None else comments, lines)


def _told(mark: str | None, comments: Iterable[str], lines: Iterable[str]) -> str:
    """Return comments and lines for who reads them: also those of a format without comments."""
    before = "" if mark is None else f"{mark} "
    return "\n".join((*(f"{before}{line}" for line in comments), *lines)) + "\n"


@dataclass(frozen=True, slots=True)
class Emission:
    """Configuration lines for a platform, their size, and notes.

    ``given`` is the size that Forebay's own reader finds in the lines. It differs from ``wanted``
    by at most ``rounding_bytes``.
    """

    platform: str
    wanted: reading.Wanted
    port: reading.Port
    lines: tuple[str, ...]
    given: reading.ConfiguredQueue
    rounding_bytes: int
    notes: tuple[Note, ...]
    comment_mark: str | None

    @property
    def comments(self) -> tuple[str, ...]:
        """The notes, as lines without a comment character."""
        source = f", from {one_line(self.wanted.source)}" if self.wanted.source else ""
        wanted = reading.say(self.wanted.bytes, self.wanted.packets, self.port)
        given = reading.say(self.given.bytes, self.given.packets, self.port)
        k = self.given.marks_bytes
        return (
            f"{mark(self.platform)} {one_line(self.wanted.written)}{source}",
            f"wanted: {wanted}",
            f"configured: {given}",
            *(() if k is None else (f"marks: {reading.say_step(k, self.port)}",)),
            *(one_line(f"why: {reason}") for reason in self.wanted.why),
            *map(str, self.notes),
        )

    @property
    def text(self) -> str:
        """The lines to paste, after the comments if the format has comments."""
        return _pasted(self.comment_mark, self.comments, self.lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the document of ``platforms emit --json``: JSON types only."""
        wanted = reading.amounts(self.wanted.bytes, self.wanted.packets, self.port)
        return {
            "schema": 1,
            "platform": self.platform,
            "asked": {"written": self.wanted.written, "source": self.wanted.source, **wanted},
            "given": reading.amounts(self.given.bytes, self.given.packets, self.port),
            "ecn_step_bytes": self.given.marks_bytes,
            "rounding_bytes": self.rounding_bytes,
            "configuration": list(self.lines),
            "notes": [asdict(note) for note in self.notes],
            "text": _told(self.comment_mark, self.comments, self.lines),
        }


def emit(
    wanted: reading.Wanted,
    port: reading.Port,
    platform: str,
    *,
    form: str | None = None,
    model: str | None = None,
    interface: str | None = None,
    name: str = "FOREBAY",
    number: int = 100,
) -> Emission:
    """Return the configuration of the wanted buffer for a port.

    ``form`` is the notation of the size ("bytes", "time", "packets", …) and ``model`` the hardware
    if it matters; None means the platform's default. The size is never smaller than wanted, except
    for a fraction of a packet on platforms that count packets. Raises PlatformError.
    """
    chosen = get(platform)
    interface = interface or chosen.port_name(port.line)
    form = _form(form, chosen, interface)
    model = _one_of("model", model, chosen.models, chosen)
    # On Linux the name is part of a shell command.
    if not _INTERFACE.fullmatch(interface):
        raise PlatformError("bad-interface", value=interface)
    if not _NAME.fullmatch(name):
        raise PlatformError("bad-name", value=name)
    if wanted.packets < 1:
        raise PlatformError("too-small", value=wanted.written, packet=port.packet_bytes)
    if wanted.aqm is not None and not _writes(chosen, wanted.aqm):
        others = [other for other in names() if _writes(get(other), wanted.aqm)]
        raise _not_here(wanted.aqm.discipline, chosen.name, others)
    written = chosen.write(Order(wanted, port, form, model, interface, name, number))
    text = "\n".join(written.lines)
    given = next(chosen.read(Snippet(text, chosen.comment), port, model))
    notes = [chosen.rounds, *_slowed(chosen, port)]
    if wanted.unwritten:
        left = ", ".join(wanted.unwritten)
        notes.append(trap(f"the scenario's queue has what is not written: {left}"))
    said = tuple(dict.fromkeys((*notes, *written.notes, *given.notes)))
    rounding = written.rounding_bytes
    return Emission(chosen.name, wanted, port, written.lines, given, rounding, said, chosen.comment)


def check_discipline(discipline: str, platform: str) -> None:
    """Refuse, before a sizing, a queue that can be written for a platform whatever its size is.

    Raises PlatformError for an unknown platform, or a discipline that it cannot have here.
    """
    chosen = get(platform)
    kind = DISCIPLINES[discipline]
    if kind.sized == "limit":
        return
    if discipline in _LIMITLESS:
        raise PlatformError("managed.without-limit", value=discipline)
    steps = kind.sized == "thresholds" and chosen.name in _MARKS
    if discipline not in chosen.manages and not steps:
        others = [name for name in names() if discipline in get(name).manages]
        raise _not_here(discipline, chosen.name, others)


def _not_here(discipline: str, platform: str, others: list[str]) -> PlatformError:
    return PlatformError(
        "managed.elsewhere", value=discipline, platform=platform, others=", ".join(others)
    )


def _writes(platform: Platform, aqm: Aqm) -> bool:
    """Whether an AQM queue can be written for a platform."""
    marks = aqm.parameter == "min" and aqm.is_step and aqm.ecn
    return aqm.discipline in platform.manages or (marks and platform.name in _MARKS)


def _slowed(platform: Platform, port: reading.Port) -> tuple[Note, ...]:
    if port.framing is not None and platform.name != "linux-tc":
        said = "the line's framing is not written: the rate is what it leaves for packets of"
        return (trap(f"{said} {port.packet_bytes} B, and smaller packets take more of the line"),)
    if port.is_shaped:
        return (note(f"the queue is served at {Rate(port.rate_bps)}, which the lines shape to"),)
    if not platform.ports or port.rate_bps in (rate for rate, _ in platform.ports):
        return ()
    said = (
        f"no Ethernet port known here runs at {Rate(port.rate_bps)}: in a faster one packets wait "
        "only if traffic is shaped to that rate, and a size written as time is then counted at it"
    )
    return (trap(said),)


def _form(form: str | None, platform: Platform, interface: str) -> str:
    """Return the form; a bundle has the form in time, and no other."""
    only = platform.timed and interface.lower().startswith(platform.timed)
    chosen = _one_of("form", "time" if only and form is None else form, platform.forms, platform)
    if only and chosen != "time":
        raise PlatformError("bundle", value=short(interface), platform=platform.name)
    return chosen


def _one_of(what: str, value: str | None, known: tuple[str, ...], platform: Platform) -> str:
    if value is None:
        return known[0]
    if value not in known:
        raise PlatformError(
            "unknown-form" if what == "form" else "unknown-model", value=value,
            platform=platform.name, known=", ".join(known),
        )  # fmt: skip
    return value


_JUNOS_LEVELS = ("strict-high", "high", "medium-high", "medium-low")
_JUNOS_QUEUES, _IOS_LEVELS = 8, 2
_MOST_RATIO = 1000


@dataclass(frozen=True, slots=True)
class ClassLimit:
    """A class queue with its limit."""

    queue: ClassQueue
    packets: int
    bytes: int

    def said(self, port: reading.Port) -> str:
        """Return the limit in the packets of its own traffic, with its name."""
        own, time = self.bytes // self.packets, reading.say_time(port.seconds(self.bytes))
        size = f"{self.packets} packets of {own} B = {self.bytes} B = {time} at the port's rate"
        return f"{self.queue.name}: {size}"


@dataclass(frozen=True, slots=True)
class ClassEmission:
    """Configuration of several class queues; ``text`` has the notes as comments."""

    platform: str
    comment: str | None
    limits: tuple[ClassLimit, ...]
    port: reading.Port
    lines: tuple[str, ...]
    notes: tuple[Note, ...]

    @property
    def text(self) -> str:
        """The lines to paste, after the comments."""
        return _pasted(self.comment, self._comments(), self.lines)

    def _comments(self) -> Iterable[str]:
        return (*(limit.said(self.port) for limit in self.limits), *map(str, self.notes))

    def to_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return {
            "schema": 1, "platform": self.platform, "configuration": list(self.lines),
            "class_queues": [
                {"name": x.queue.name, "packets": x.packets, "bytes": x.bytes} for x in self.limits
            ],
            "notes": [asdict(note) for note in self.notes],
            "text": _told(self.comment, self._comments(), self.lines),
        }  # fmt: skip


def check_class_platform(platform: str) -> None:
    """Refuse a platform for which class queues are not written. Raises PlatformError."""
    get(platform)
    if platform not in _WRITERS:
        raise PlatformError("class-queues.platform", value=platform, known=" or ".join(_WRITERS))


def emit_classes(
    scenario: Scenario, platform: str, *, interface: str | None = None
) -> ClassEmission:
    """Return the class queues of a scenario's link as configuration.

    Raises PlatformError if the platform has no such queues, or cannot express priorities, rates or
    sizes.
    """
    check_class_platform(platform)
    chosen = get(platform)
    port = port_of(scenario)
    limits = tuple(
        ClassLimit(queue, packets, packets * int(own.packet if own.classes else packet))
        for queue, (packets, packet), own in zip(
            scenario.queue.classes, scenario.class_limits(), scenario.class_counts(), strict=True
        )
    )
    lines = _WRITERS[platform](limits, port, interface or chosen.port_name(port.line))
    classes = scenario.queue.classes
    early = ", ".join(queue.name for queue in classes if queue.red is not None)
    notes = [trap(f"RED of {early} is not written: add a drop profile")] if early else []
    if any(queue.burst is not None for queue in classes):
        notes.append(trap("the burst of a class's shaper is not written"))
    notes += port.burst_unwritten("the port's lines have the rate alone")
    notes += _OWN_NOTES[platform]
    return ClassEmission(platform, chosen.comment, limits, port, tuple(lines), tuple(notes))


def _levels(limits: Sequence[ClassLimit], most: int, platform: str) -> list[int]:
    """Return the strict levels in order. Raises PlatformError if there are too many."""
    levels = sorted({x.queue.level for x in limits if x.queue.priority is not None})
    if len(levels) > most:
        raise PlatformError("class-queues.levels", value=len(levels), platform=platform, most=most)
    return levels


def _junos(limits: Sequence[ClassLimit], port: reading.Port, interface: str) -> Iterator[str]:
    if len(limits) > _JUNOS_QUEUES:
        raise PlatformError("class-queues.many", value=len(limits), most=_JUNOS_QUEUES)
    cos, levels = "set class-of-service", _levels(limits, len(_JUNOS_LEVELS), "Junos")
    percents = _percents([x for x in limits if x.queue.priority is None], port)
    for number, limit in enumerate(limits):
        queue, own = limit.queue, f"{cos} schedulers {limit.queue.name}"
        yield f"{cos} forwarding-classes class {queue.name} queue-num {number}"
        yield f"{own} buffer-size temporal {port.microseconds(limit.bytes)}"
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


def _percents(limits: Sequence[ClassLimit], port: reading.Port) -> dict[str, int]:
    """Return whole per cent of the rate by weight: of what guaranteed rates leave, 1 at least."""
    promised = sum(float(x.queue.min_rate or 0) for x in limits) / port.rate_bps
    shared = [x.queue for x in limits if x.queue.min_rate is None]
    left = int(100 * (1 - promised) + 1e-9) - len(shared)
    if shared and left < 0:
        raise PlatformError("class-queues.min-rates")
    total = sum(queue.weight for queue in shared)
    exact = {queue.name: left * queue.weight / total for queue in shared}
    percents = {name: 1 + int(share) for name, share in exact.items()}
    spare = left + len(shared) - sum(percents.values())
    for name in sorted(exact, key=lambda name: int(exact[name]) - exact[name])[:spare]:
        percents[name] += 1
    return percents


def _ios_xe(limits: Sequence[ClassLimit], port: reading.Port, interface: str) -> Iterator[str]:
    levels = _levels(limits, _IOS_LEVELS, "IOS-XE")
    ratios = _ratios([x.queue for x in limits if x.queue.priority is None])
    yield "policy-map FOREBAY"
    for limit in sorted(limits, key=lambda x: x.queue.default):
        queue = limit.queue
        if queue.min_rate is not None:
            raise PlatformError("class-queues.min-rate", value=queue.name)
        yield f" class {'class-default' if queue.default else queue.name}"
        if queue.priority is not None:
            yield f"  priority level {1 + levels.index(queue.level)}"
        else:
            yield f"  bandwidth remaining ratio {ratios[queue.name]}"
        if queue.max_rate is not None:
            yield f"  shape average {round(queue.max_rate)}"
        yield f"  queue-limit {limit.packets} packets"
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


_WRITERS: dict[str, Callable[[Sequence[ClassLimit], reading.Port, str], Iterator[str]]] = {
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
