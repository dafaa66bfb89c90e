"""random-detect in a policy-map's class: what it drops or marks before the limit is reached."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from forebay.platforms.errors import short
from forebay.platforms.policy_map import SELECTORS, Amount, PolicyClass
from forebay.platforms.port import Port
from forebay.platforms.reading import ConfiguredQueue, Note, note, trap
from forebay.platforms.snippet import Statement, whole

_PLAIN = (*(f"{each}-based" for each in SELECTORS), "exponential-weighting-constant", "default")
_MOST = 2**32 - 1
_MOST_SAID = 3
_FAIR = trap("fair-queue: each flow has a queue of its own within the limit")


@dataclass(frozen=True, slots=True)
class _Early:
    """A random-detect statement: the packets it is of ("" for all), and its thresholds in bytes."""

    line: int
    of: str
    least: int | None
    most: int | None
    is_read: bool


def with_wred(
    chosen: PolicyClass, reading: ConfiguredQueue, port: Port, amount: Amount
) -> ConfiguredQueue:
    """Return the reading of a class's limit with what random-detect does before.

    Above its maximum threshold WRED drops every packet, so the average queue does not exceed it:
    that is the size, if the threshold is of all packets and they are not marked. If the text gives
    no thresholds, the size is unknown.
    """
    fair = chosen.beginning("fair-queue")
    if fair:
        plain = (each.line for each in fair if "queue-limit" not in each.words)
        reading = reading.serving(None, _FAIR, also=plain)
    found = chosen.beginning("random-detect")
    if not found:
        return reading
    early = [_early(each, amount) for each in found]
    reading = reading.serving(None, also=(each.line for each in early if each.is_read))
    reading = replace(reading, discipline="red")
    known = [each for each in early if each.most is not None]
    if any("ecn" in each.words for each in found):
        return _marking(reading, known)
    every = [each.most for each in known if not each.of and each.most is not None]
    if every:
        return _dropping(reading, max(every), port)
    if known:
        said = (_of_some(each, reading.bytes) for each in known[:_MOST_SAID])
        return reading.serving(None, *said)
    return replace(reading, bytes=None, packets=None).serving(None, _unknown(reading))


def _dropping(reading: ConfiguredQueue, most: int, port: Port) -> ConfiguredQueue:
    if reading.bytes is not None and reading.bytes <= most:
        return reading.serving(None, _above(most, reading.bytes) or _all_at(most))
    return replace(reading, bytes=most, packets=most // port.packet_bytes).serving(
        None, _all_at(most)
    )


def _all_at(most: int) -> Note:
    return trap(
        f"random-detect drops before the limit is reached, and every packet once the average "
        f"queue is at {most} B"
    )


def _above(most: int, limit: int, of: str = "") -> Note | None:
    if most <= limit:
        return None
    return trap(
        f"random-detect{of} may drop before the limit, but its maximum threshold, {most} B, is "
        f"above it: every packet is dropped at {limit} B"
    )


def _of_some(each: _Early, limit: int | None) -> Note:
    """Return what happens to the packets of one selector; others have what is not in the text."""
    most = each.most or 0
    above = None if limit is None else _above(most, limit, f" of {each.of}")
    return above or trap(
        f"random-detect of {each.of} alone: dropped from {each.least} B on, and all of them once "
        f"the average queue is at {most} B; what is dropped of others early is not in this text"
    )


def _marking(reading: ConfiguredQueue, known: Iterable[_Early]) -> ConfiguredQueue:
    """Return a queue whose random-detect marks: its limit is that of queue-limit."""
    ends = {(each.least, each.most) for each in known}
    if not ends:
        said = trap("ECN-capable packets are marked, and others dropped, at thresholds not here")
        return reading.serving(None, said)
    lows, highs = zip(*ends, strict=True)
    least, most = min(low or 0 for low in lows), max(high or 0 for high in highs)
    step = most if least == most else None
    span = f"from {most} B on" if step else f"with rising probability from {least} to {most} B"
    drop = "" if reading.bytes is not None else "; where all are dropped is not in this text"
    said = note(f"ECN-capable packets are marked {span}, and others dropped{drop}")
    return replace(reading.serving(None, said), marks_bytes=step)


def _unknown(reading: ConfiguredQueue) -> Note:
    limit = "" if reading.bytes is None else f" of {reading.bytes} B"
    return trap(
        f"random-detect drops before the limit{limit} is reached, at thresholds that this text "
        "does not give: no drop-tail queue of that size"
    )


def _early(statement: Statement, amount: Amount) -> _Early:
    """Read one statement: thresholds by name (NX-OS), or the first two numbers with a unit."""
    words = [word for word in statement.words[1:] if word != "ecn"]
    of = ""
    if words[:1] and words[0] in SELECTORS:
        of, words = short(" ".join(words[:2]), 30), words[2:]
    names = ("minimum-threshold", "maximum-threshold")
    if any(name in words for name in names):
        ends = [words[words.index(name) + 1 :] if name in words else [] for name in names]
        least, most = (_amount(end, amount)[0] for end in ends)
    else:
        least, after = _amount(words, amount)
        most, _ = _amount(after, amount)
    is_read = most is not None or not words or words[0] in _PLAIN
    return _Early(statement.line, of, least, most, is_read)


def _amount(words: list[str], amount: Amount) -> tuple[int | None, list[str]]:
    """Return the bytes of a number with an optional unit, and the words after it."""
    number = whole(words[0], _MOST) if words else None
    if number is None:
        return None, []
    unit = words[1] if len(words) > 1 and not words[1].isdigit() else ""
    unit = "" if unit.endswith("-threshold") else unit
    return amount(number, unit), words[2 if unit else 1 :]
