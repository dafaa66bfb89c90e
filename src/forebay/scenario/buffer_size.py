"""The size of a buffer, in one of its five units."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from math import floor, sqrt
from typing import Literal, Self

from forebay.scenario.errors import ScenarioError, show
from forebay.scenario.quantity import FromText, parse_amount, plain, unitless

BufferUnit = Literal["packets", "bytes", "seconds", "bdp", "bdp/sqrt(n)"]


_BUFFER_EXAMPLE = "129 packets"


_WRITE_BUFFER = 'write one such as "129 packets", "1.5 MB", "10 ms", "1 bdp" or "1 bdp/sqrt(n)"'


_PER_SQRT_N = re.compile(r"\s*/\s*sqrt\s*\(\s*n\s*\)\s*$")


_BUFFER_UNITS: dict[str, BufferUnit] = {
    "packets": "packets",
    "size": "bytes",
    "time": "seconds",
    "bdp": "bdp",
}


_BUFFER_WRITTEN = {"bytes": "B", "seconds": "s"}


@dataclass(frozen=True, slots=True)
class BufferSize(FromText):
    """An amount, its unit, and its original text.

    ``bdp`` is the mean two-way propagation delay times the link's rate, and n the number of long
    flows, both of the flows that cross the link (`CrossingFlows`). Sizes with the same
    meaning are equal, whatever their text.
    """

    amount: float
    unit: BufferUnit
    text: str = field(default="", compare=False)

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read text such as "129 packets" or "1 bdp/sqrt(n)". Raises ScenarioError."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, str):
            raise unitless(value, _BUFFER_EXAMPLE)
        amount, unit = _buffer_amount(value)
        if amount == 0:
            raise ScenarioError(
                "out-of-range", f"{show(value)} is no buffer", _WRITE_BUFFER, value=value
            )
        if unit in ("packets", "bytes") and amount != int(amount):
            wrong = f"{show(value)} is not a whole number of {unit}"
            raise ScenarioError("out-of-range", wrong, _WRITE_BUFFER, value=value)
        return cls(float(amount), unit, value.strip())

    def packets(self, *, rate_bps: float, packet_bytes: int, bdp: float, flows: int) -> int:
        """Return the packets that may wait: bytes are rounded down, other units to the nearest."""
        if self.unit == "packets":
            return int(self.amount)
        if self.unit == "bytes":
            return int(self.amount // packet_bytes)
        if self.unit == "seconds":
            return floor(self.amount * rate_bps / (8 * packet_bytes) + 0.5)
        share = sqrt(max(flows, 1)) if self.unit == "bdp/sqrt(n)" else 1.0
        return floor(self.amount * bdp / share + 0.5)

    def __str__(self) -> str:
        number = plain(Decimal(repr(self.amount)))
        return self.text or f"{number} {_BUFFER_WRITTEN.get(self.unit, self.unit)}"

    def canonical(self) -> dict[str, float]:
        """Return base units, the same for every notation."""
        return {self.unit: self.amount}


def _buffer_amount(text: str) -> tuple[Decimal, BufferUnit]:
    """Return the amount and its unit: packets, bytes, seconds or bdp."""
    bare, shared = _PER_SQRT_N.subn("", text)
    if shared:
        return parse_amount(bare, ("bdp",), "1 bdp/sqrt(n)")[0], "bdp/sqrt(n)"
    amount, kind = parse_amount(text, ("packets", "size", "time", "bdp"), _BUFFER_EXAMPLE)
    return (amount / 8 if kind == "size" else amount), _BUFFER_UNITS[kind]
