"""The sizes in a snippet of configuration, and their comparison with the wanted size."""

from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Literal

from forebay.outcome import Aqm
from forebay.platforms.reading import (
    ConfiguredQueue,
    Port,
    Unread,
    Wanted,
    amounts,
    say,
    say_reading,
    say_step,
    say_time,
)
from forebay.platforms.registry import get, recognise
from forebay.platforms.snippet import MOST_QUEUES, PlatformError, Snippet

Verdict = Literal[
    "as asked", "smaller", "larger", "unknown", "other discipline", "other parameters"
]
_CLOSE = 0.02
"""Relative distance of two targets or thresholds that are one: whole units and headers round."""


@dataclass(frozen=True, slots=True)
class Lint:
    """Every queue found, in the order of the text, compared with the wanted size if given."""

    platform: str
    port: Port
    readings: tuple[ConfiguredQueue, ...]
    wanted: Wanted | None = None
    unread: tuple[Unread, ...] = ()

    def verdict(self, reading: ConfiguredQueue) -> Verdict | None:
        """Compare one queue with the wanted size, to one packet or the notation's rounding.

        A size that is larger by less than one step of the notation is equal too, because no
        closer size can be written.
        """
        return None if self.wanted is None else self._compared(self.wanted, reading)[0]

    def _compared(self, wanted: Wanted, reading: ConfiguredQueue) -> tuple[Verdict, str]:
        """Return the verdict: by the step of marks, the discipline, the limit; and what is said."""
        aqm, size, marks, kind = wanted.aqm, reading.bytes, reading.marks_bytes, reading.discipline
        times = ""
        if size is not None and wanted.bytes:
            times = f": {size / wanted.bytes:.4g} times what is wanted"
        if aqm is not None and aqm.parameter == "min" and aqm.is_step:
            if marks is None:
                return "unknown", times
            if marks != aqm.min_bytes:
                return "smaller" if marks < aqm.min_bytes else "larger", times
            if size is None:
                return "as asked", times
        if marks is None and kind is None and aqm is not None:
            return "unknown", times
        if marks is None and kind is not None:
            if kind != wanted.discipline:
                return "other discipline", f": {kind}, and {wanted.discipline} is wanted"
            aims = () if aqm is None else _aims(aqm)
            pairs = zip(aims, reading.aims, strict=False)
            if any(abs(mine - other) > _CLOSE * mine + 1e-6 for mine, other in pairs):
                own = f"{kind} with {_say_aims(reading.aims)}"
                return "other parameters", f": {own}, and {_say_aims(aims)} is wanted"
        if size is None:
            return "unknown", times
        off = size - wanted.bytes
        allowed = max(reading.rounding_bytes, self.port.packet_bytes)
        if -allowed <= off <= max(allowed, reading.above_bytes):
            return "as asked", times
        return "smaller" if off < 0 else "larger", times

    @property
    def exit_status(self) -> int:
        """Return 1 if a size is wanted and no queue has it, else 0."""
        verdicts = [self.verdict(reading) for reading in self.readings]
        return 0 if self.wanted is None or "as asked" in verdicts else 1

    @property
    def text(self) -> str:
        """Return the report as text."""
        many = len(self.readings)
        lines = [f"{self.platform}: {many} queue{'s' * (many != 1)}"]
        if self.wanted is not None:
            wanted = say(self.wanted.bytes, self.wanted.packets, self.port)
            lines.append(f"wanted: {wanted} ({self.wanted.written}, {self.wanted.source})")
        for reading in self.readings:
            size, marks = say_reading(reading, self.port), reading.marks_bytes
            lines += ["", f"line {reading.line}: {reading.queue}: {reading.written}", f"  {size}"]
            if marks is not None:
                lines.append(f"  {say_step(marks, self.port)}: ECN marks from there on")
            if self.wanted is not None:
                lines.append("  {}{}".format(*self._compared(self.wanted, reading)))
            lines += [f"  {note}" for note in reading.notes]
        if self.unread:
            lines += ["", "not understood, though it may touch a buffer:"]
            lines += [f"  line {statement.line}: {statement.written}" for statement in self.unread]
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return the document of ``platforms lint --json``: JSON types only."""
        wanted = self.wanted and {
            "written": self.wanted.written,
            "source": self.wanted.source,
            **amounts(self.wanted.bytes, self.wanted.packets, self.port),
        }
        return {
            "schema": 1,
            "platform": self.platform,
            "asked": wanted,
            "queues": [self._document(reading) for reading in self.readings],
            "not_understood": [asdict(statement) for statement in self.unread],
        }

    def _document(self, reading: ConfiguredQueue) -> dict[str, Any]:
        size = None if reading.seconds(self.port) is None else reading.bytes
        return {
            "line": reading.line,
            "queue": reading.queue,
            "written": reading.written,
            **amounts(reading.bytes, reading.packets, self.port),
            "seconds": reading.seconds(self.port),
            "rate_bps": self.port.rate_bps if reading.served is None else reading.served.rate_bps,
            "rate_of": "the port" if reading.served is None else reading.served.by,
            "port_seconds": None if size is None else 8 * size / self.port.line,
            "ecn_step_bytes": reading.marks_bytes,
            "rounding_bytes": reading.rounding_bytes,
            "verdict": self.verdict(reading),
            "notes": [asdict(note) for note in reading.notes],
        }


def _aims(aqm: Aqm) -> tuple[float, ...]:
    """Return red's min and max in bytes, or the target in s."""
    return (aqm.min_bytes, aqm.max_bytes) if aqm.parameter == "min" else (aqm.target_s,)


def _say_aims(aims: tuple[float, ...]) -> str:
    if len(aims) == 1:
        return f"a target of {say_time(aims[0])}"
    ends = zip(("min", "max"), aims, strict=False)
    return " and ".join(f"{name} {size:.0f} B" for name, size in ends)


def lint(
    snippet: Snippet | str,
    port: Port,
    *,
    platform: str | None = None,
    model: str | None = None,
    wanted: Wanted | None = None,
) -> Lint:
    """Read a snippet: each queue's size on this port, with warnings.

    Without ``platform`` it is recognised from the text. Raises only PlatformError, for any text.
    """
    if isinstance(snippet, str):
        snippet = Snippet.decode(snippet.encode("utf-8", "surrogatepass"))
    chosen = get(platform) if platform else recognise(snippet)
    if model is not None and model not in chosen.models:
        known = ", ".join(chosen.models)
        raise PlatformError("unknown-model.to-read", value=model, platform=chosen.name, known=known)
    text = Snippet(snippet.text, chosen.comment)
    queues = tuple(islice(chosen.read(text, port, model or chosen.models[0]), MOST_QUEUES + 1))
    read = frozenset[int | str](each.line for each in queues).union(*(each.also for each in queues))
    unread = tuple(islice(chosen.unread(text, read), MOST_QUEUES))
    if not queues and not unread:
        raise PlatformError("no-queue.found", platform=chosen.name)
    if len(queues) > MOST_QUEUES:
        raise PlatformError("too-many", most=MOST_QUEUES)
    return Lint(chosen.name, port, queues, wanted, unread)
