"""random-detect in a policy-map's class, which drops before queue-limit is reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from forebay.platforms.policy_map import PolicyClass
from forebay.platforms.port import Port
from forebay.platforms.reading import ConfiguredQueue, Note, trap
from forebay.platforms.snippet import whole

_SELECTORS = ("dscp", "precedence", "prec", "cos", "exp", "discard-class", "qos-group", "clp")
_WITHOUT_THRESHOLD = (
    *(f"{each}-based" for each in _SELECTORS), "ecn", "exponential-weighting-constant", "default"
)  # fmt: skip
_MOST = 2**32 - 1
_FAIR = trap("fair-queue: each flow has a queue of its own within the limit")

Amount = Callable[[int, str], int | None]
"""Converts a number and its unit (may be "") to bytes; None if unknown."""


def with_wred(
    chosen: PolicyClass, reading: ConfiguredQueue, port: Port, amount: Amount
) -> ConfiguredQueue:
    """Return the reading of a class's limit, reduced by random-detect.

    Above its maximum threshold WRED drops every packet, so the average queue does not exceed it.
    If the text gives no thresholds, the size is unknown.
    """
    fair = chosen.beginning("fair-queue")
    if fair:
        plain = (each.line for each in fair if "queue-limit" not in each.words)
        reading = reading.serving(None, _FAIR, also=plain)
    found = chosen.beginning("random-detect")
    if not found:
        return reading
    highest = [_highest(each.words[1:], amount) for each in found]
    known = [each for each in highest if each is not None]
    understood = zip(found, highest, strict=True)
    lines = (each.line for each, most in understood if most is not None or _is_plain(each.words))
    reading = reading.serving(None, also=lines)
    if not known:
        return replace(reading, bytes=None, packets=None, notes=(*reading.notes, _unknown(reading)))
    most = max(known)
    said = trap(
        f"random-detect drops before the limit is reached, and every packet once the average "
        f"queue is at {most} B"
    )
    if reading.bytes is not None and reading.bytes < most:
        said = trap(
            f"random-detect may drop before the limit, but its maximum threshold, {most} B, is "
            f"above it: every packet is dropped at {reading.bytes} B"
        )
    if reading.bytes is not None and reading.bytes <= most:
        return replace(reading, notes=(*reading.notes, said))
    fits = most // port.packet_bytes
    return replace(reading, bytes=most, packets=fits, notes=(*reading.notes, said))


def _is_plain(words: tuple[str, ...]) -> bool:
    """Whether a random-detect statement has no threshold."""
    return len(words) == 1 or words[1] in _WITHOUT_THRESHOLD


def _unknown(reading: ConfiguredQueue) -> Note:
    limit = "" if reading.bytes is None else f" of {reading.bytes} B"
    return trap(
        f"random-detect drops before the limit{limit} is reached, at thresholds that this text "
        "does not give: no drop-tail queue of that size"
    )


def _highest(words: tuple[str, ...], amount: Amount) -> int | None:
    """Return the maximum threshold, the second of two numbers with optional units."""
    if words[:1] and words[0] in _SELECTORS:
        words = words[2:]
    amounts: list[int | None] = []
    at = 0
    while at < len(words) and len(amounts) < 2:
        number = whole(words[at], _MOST)
        if number is None:
            return None
        unit = words[at + 1] if at + 1 < len(words) and not words[at + 1].isdigit() else ""
        amounts.append(amount(number, unit))
        at += 2 if unit else 1
    return amounts[1] if len(amounts) == 2 else None
