"""A size as configuration of one platform."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from forebay.catalogue import DISCIPLINES
from forebay.errors import argument, option, setting
from forebay.platforms.errors import PlatformError, printable, short
from forebay.platforms.port import Port, Wanted
from forebay.platforms.protocol import Order, Platform
from forebay.platforms.reading import ConfiguredQueue, Note, amounts, note, say, say_step, trap
from forebay.platforms.registry import get, mark, names
from forebay.platforms.snippet import Snippet
from forebay.scenario import Rate

if TYPE_CHECKING:
    from forebay.outcome import Aqm


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,39}")  # names of objects that every platform takes
_LONGEST = 15  # so that no port's name ends as the second object of another one does (Junos)


def object_names(ports: Sequence[str]) -> list[str]:
    """Return a name for each port, derived from its own, that differs also without regard to case.

    A single port has "FOREBAY".
    """
    if len(ports) == 1:
        return ["FOREBAY"]
    found: dict[str, str] = {}
    for port in ports:
        plain = unicodedata.normalize("NFKD", port).encode("ascii", "ignore").decode()
        own = re.sub(r"[^A-Za-z0-9]+", "-", plain).strip("-")[:_LONGEST].rstrip("-") or "port"
        name, number = own, 1
        while name.lower() in found:
            number += 1
            name = f"{own[: _LONGEST - len(str(number)) - 1]}-{number}"
        found[name.lower()] = f"FOREBAY-{name}"
    return list(found.values())


_MARKS = ("nx-os", "sonic", "eos")  # platforms for which a step of ECN marks can be written

_LIMITLESS = ("cake", "cobalt")  # without a limit that tc writes; cobalt is in Linux's cake

_INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./:@-]{0,63}")


@dataclass(frozen=True, slots=True)
class Emission:
    """Configuration lines for a platform, their size, and notes.

    ``given`` is the size that Forebay's own reader finds in the lines. It differs from ``wanted``
    by at most ``rounding_bytes``.
    """

    platform: str
    wanted: Wanted
    port: Port
    lines: tuple[str, ...]
    given: ConfiguredQueue
    rounding_bytes: int
    notes: tuple[Note, ...]
    comment_mark: str | None

    @property
    def comments(self) -> tuple[str, ...]:
        """The notes, as lines without a comment character."""
        source = f", from {printable(self.wanted.source)}" if self.wanted.source else ""
        wanted = say(self.wanted.bytes, self.wanted.packets, self.port)
        given = say(self.given.bytes, self.given.packets, self.port)
        k = self.given.marks_bytes
        return (
            f"{mark(self.platform)} {printable(self.wanted.written)}{source}",
            f"wanted: {wanted}",
            f"configured: {given}",
            *(() if k is None else (f"marks: {say_step(k, self.port)}",)),
            *(printable(f"why: {reason}") for reason in self.wanted.why),
            *map(str, self.notes),
        )

    @property
    def text(self) -> str:
        """The lines to paste, after the comments if the format has comments."""
        if self.comment_mark is None:
            return "\n".join(self.lines) + "\n"
        said = (f"{self.comment_mark} {line}" for line in self.comments)
        return "\n".join((*said, *self.lines)) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return the document of ``platforms emit --json``: JSON types only."""
        wanted = amounts(self.wanted.bytes, self.wanted.packets, self.port)
        return {
            "schema": 1,
            "platform": self.platform,
            "asked": {"written": self.wanted.written, "source": self.wanted.source, **wanted},
            "given": amounts(self.given.bytes, self.given.packets, self.port),
            "ecn_step_bytes": self.given.marks_bytes,
            "rounding_bytes": self.rounding_bytes,
            "configuration": list(self.lines),
            "notes": [asdict(note) for note in self.notes],
        }


def emit(
    wanted: Wanted,
    port: Port,
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
        wrong = f'"{short(interface)}" is no name of an interface'
        raise PlatformError("bad-interface", wrong, 'write one such as "eth0" or "xe-0/0/0"')
    if not _NAME.fullmatch(name):
        wrong = f'"{short(name)}" is no name that every platform takes'
        raise PlatformError("bad-name", wrong, 'write letters, digits and "-", such as "FOREBAY-1"')
    if wanted.packets < 1:
        small = f"is smaller than a full packet of {port.packet_bytes} B"
        wrong = f"{printable(wanted.written)} {small}"
        raise PlatformError("too-small", wrong, "write at least one packet")
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
    return Emission(
        chosen.name,
        wanted,
        port,
        written.lines,
        given,
        written.rounding_bytes,
        tuple(dict.fromkeys((*notes, *written.notes, *given.notes))),
        chosen.comment,
    )


def check_discipline(discipline: str, platform: str) -> None:
    """Refuse, before a sizing, a queue that can be written for a platform whatever its size is.

    Raises PlatformError for an unknown platform, or a discipline that it cannot have here.
    """
    chosen = get(platform)
    kind = DISCIPLINES[discipline]
    if kind.sized == "limit":
        return
    if discipline in _LIMITLESS:
        wrong = f"{discipline} has no limit in packets or bytes that could be read back"
        line = "tc qdisc replace dev eth0 root cake besteffort flows rtt TIME bandwidth RATE"
        leave = f"leave {argument('emit')} out, and write its target by hand: {line}"
        raise PlatformError("managed", wrong, leave)
    steps = kind.sized == "thresholds" and chosen.name in _MARKS
    if discipline not in chosen.manages and not steps:
        others = [name for name in names() if discipline in get(name).manages]
        raise _not_here(discipline, chosen.name, others)


def _not_here(discipline: str, platform: str, others: list[str]) -> PlatformError:
    wrong = f"the queue is {discipline}, which cannot be written for {platform} here"
    hint = f"write {', '.join(others)}, or take {setting('queue.discipline', 'drop-tail')}"
    return PlatformError("managed", wrong, hint)


def _writes(platform: Platform, aqm: Aqm) -> bool:
    """Whether an AQM queue can be written for a platform."""
    marks = aqm.parameter == "min" and aqm.is_step and aqm.ecn
    return aqm.discipline in platform.manages or (marks and platform.name in _MARKS)


def _slowed(platform: Platform, port: Port) -> tuple[Note, ...]:
    if port.framing is not None and platform.name != "linux-tc":
        said = "the line's framing is not written: the rate is what it leaves for packets of"
        return (trap(f"{said} {port.packet_bytes} B, and smaller packets take more of the line"),)
    if port.is_shaped:
        return (note(f"the queue is served at {Rate(port.rate_bps)}, which the lines shape to"),)
    if not platform.is_slowed(port.rate_bps):
        return ()
    said = (
        f"no port runs at {Rate(port.rate_bps)}: packets wait here only if traffic is shaped to "
        "that rate, and a size written as time is then counted at the shaper's rate"
    )
    return (trap(said),)


def _form(form: str | None, platform: Platform, interface: str) -> str:
    """Return the form; a bundle has the form in time, and no other."""
    only = platform.timed and interface.lower().startswith(platform.timed)
    chosen = _one_of("form", "time" if only and form is None else form, platform.forms, platform)
    if only and chosen != "time":
        wrong = f"{platform.name} takes only a time on {short(interface)}, which is a bundle"
        raise PlatformError("bundle", wrong, f"write {option('form', 'time')}")
    return chosen


def _one_of(what: str, value: str | None, known: tuple[str, ...], platform: Platform) -> str:
    if value is None:
        return known[0]
    if value not in known:
        wrong = f'{platform.name} has no {what} "{short(value)}"'
        raise PlatformError(f"unknown-{what}", wrong, f"write one of {', '.join(known)}")
    return value
