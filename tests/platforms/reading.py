"""Shorter words for what the tests ask of a reading."""

from __future__ import annotations

from forebay.platforms import ConfiguredQueue, Port, Wanted, lint


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
