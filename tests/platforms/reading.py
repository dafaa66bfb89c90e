"""Shorter words for what the tests ask of a reading."""

from __future__ import annotations

from forebay.platforms import ConfiguredQueue, Port, Wanted, lint

TEN_GBIT_S = Port(1e10)


def one(
    text: str, port: Port, platform: str | None = None, model: str | None = None
) -> ConfiguredQueue:
    """Lint a text in which there is just one queue."""
    (reading,) = lint(text, port, platform=platform, model=model).readings
    return reading


def said(reading: ConfiguredQueue, kind: str = "trap") -> str:
    """Every note of a kind, in one text."""
    return " | ".join(each.text for each in reading.notes if each.kind == kind)


def wanted(packets: int, port: Port) -> Wanted:
    """So many full packets."""
    return Wanted(packets * port.packet_bytes, packets, f"{packets} packets")


def read(text: str, platform: str | None = None, queue: str = "") -> ConfiguredQueue:
    """Lint a text on a port of 10 Gbit/s; of several queues the one whose name has ``queue``."""
    found = lint(text, TEN_GBIT_S, platform=platform)
    assert not found.unread, found.text
    (reading,) = (each for each in found.readings if queue in each.queue)
    return reading


def drains(text: str, platform: str | None = None, queue: str = "") -> tuple[int | None, float]:
    """Return bytes and milliseconds of a queue of a text."""
    reading = read(text, platform, queue)
    seconds = reading.seconds(TEN_GBIT_S)
    assert seconds is not None and reading.served is not None
    return reading.bytes, 1000 * seconds
