"""What memory a buffer takes: one chip, a switch's shared memory, or external memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_SRAM_BITS = 36 * 10**6
_SHARED_SMALL, _SHARED_LARGE = 16 * 10**6, 64 * 10**6
_DRAM_ACCESS_S = 50e-9
_LEAST_PACKET = 40


@dataclass(frozen=True, slots=True)
class Tier:
    """A kind of memory; ``most_bytes`` is None for the one that holds anything."""

    name: str
    most_bytes: int | None
    date: str
    source: str
    says: str


TIERS = (
    Tier(
        "on-chip SRAM", _SRAM_BITS // 8, "2004", "Appenzeller et al. 2004, §1.3",
        "the largest SRAM chip then sold held 36 Mbit; a packet processor could embed more",
    ),
    Tier(
        "shared switch memory", _SHARED_LARGE, "2026",
        "survey of switch chips for this table; few vendors print it",
        "16 to 64 MB on the chip, shared by all its ports",
    ),
    Tier(
        "external memory", None, "2026", "survey of routing chips for this table",
        "gigabytes, on stacked or external DRAM only",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReferencePoint:
    """A size that somebody printed, to stand beside an answer."""

    says: str
    date: str
    source: str


REFERENCE_POINTS = (
    ReferencePoint(
        "vendor guidance: 5 to 10 ms in the core, 10 to 30 ms at the edge",
        "2018-05", "L. Wigley (Cisco), An Update on Router Buffering, executive summary",
    ),
    ReferencePoint(
        "production OC-48, about 10,000 flows, 190 ms by default: no drops at 5 ms, under "
        "0.2 % at 1 ms",
        "2008", "N. Beheshti et al., Experimental Study of Router Buffer Sizing, IMC 2008",
    ),
    ReferencePoint(
        "a 40 Gbit/s line card with 250 ms: 10 Gbit, 10 DRAM chips of 1 Gbit",
        "2004", "Appenzeller et al. 2004, §1.3",
    ),
    ReferencePoint(
        "packet processors with 256 Mbit of embedded DRAM: 2 % of that card's buffer fits",
        "2004", "Appenzeller et al. 2004, §1.3",
    ),
    ReferencePoint(
        "10 Gbit/s with 50,000 flows: 10 Mbit, on-chip SRAM",
        "2004", "Appenzeller et al. 2004, abstract",
    ),
    ReferencePoint(
        "Broadcom Tomahawk 2: 42 MB on the chip, for all ports",
        "2018", "Cisco Live slide, in J. Warner's (UC Santa Cruz) collection of buffer sizes",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Memory:
    """What a buffer of ``bytes`` takes.

    ``ram_bits`` is the smallest RAM device whose bits are a power of two, as in the column
    RAM of Appenzeller et al. 2004, Figure 15. ``pool_shares`` are its shares of 16 MB and
    of 64 MB of a switch's memory. ``reads_too_fast`` tells whether packets of 40 B at the
    port's rate come faster than one DRAM of 2004 (50 ns) could be accessed; None without
    a rate.
    """

    bytes: int
    tier: Tier
    ram_bits: int
    pool_shares: tuple[float, float]
    reads_too_fast: bool | None

    @property
    def text(self) -> str:
        """One line for a person."""
        small, large = (f"{100 * share:.2g} %" for share in self.pool_shares)
        return (
            f"fits {self.tier.name} ({self.tier.says}; {self.tier.date}, {self.tier.source}); "
            f"a RAM of {say_bits(self.ram_bits)}; {small} of 16 MB shared, {large} of 64 MB"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return JSON types only."""
        return {
            "bytes": self.bytes,
            "tier": self.tier.name,
            "date": self.tier.date,
            "source": self.tier.source,
            "ram_bits": self.ram_bits,
            "pool_shares": {"16 MB": self.pool_shares[0], "64 MB": self.pool_shares[1]},
            "faster_than_one_dram": self.reads_too_fast,
        }


def memory_for(size: int, rate_bps: float | None = None) -> Memory:
    """Return what memory ``size`` bytes of buffer take at a rate in bit/s."""
    tier = next(each for each in TIERS if each.most_bytes is None or size <= each.most_bytes)
    shares = (size / _SHARED_SMALL, size / _SHARED_LARGE)
    fast = None if rate_bps is None else 8 * _LEAST_PACKET / rate_bps < _DRAM_ACCESS_S
    return Memory(size, tier, ram_device_bits(size), shares, fast)


def ram_device_bits(size: int) -> int:
    """Return the bits of the smallest power-of-two RAM that holds ``size`` bytes (Figure 15)."""
    return 1 << max(8 * size - 1, 0).bit_length()


def say_bits(bits: int) -> str:
    """Return "2 Mbit" for 2^21 bits, as memory makers count."""
    for unit, power in (("Gbit", 30), ("Mbit", 20), ("kbit", 10)):
        if bits >= 1 << power:
            return f"{bits / (1 << power):g} {unit}"
    return f"{bits} bit"
