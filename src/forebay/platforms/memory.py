"""The memory that a buffer needs: on a line card's chip, on a large switch chip, or external."""

from dataclasses import dataclass

from forebay.outcome import Memory

_SRAM_2004_BITS = 36 * 10**6
_SMALL_CHIP, _MIDDLE_CHIP, _LARGE_CHIP = 16 * 10**6, 64 * 10**6, 132 * 10**6
_HBM = 8 * 10**9
_DRAM_ACCESS_S = 50e-9
_LEAST_PACKET = 40


@dataclass(frozen=True, slots=True)
class Tier:
    """A kind of memory; ``most_bytes`` is None for the unlimited one."""

    name: str
    most_bytes: int | None
    date: str
    source: str
    says: str


_WARNER = "J. Warner (UC Santa Cruz), collection of switch buffer sizes"
_JERICHO2 = f"{_WARNER}: Arista 7280R3 (Broadcom Jericho2)"

TIERS = (
    Tier("on-chip memory", _SMALL_CHIP, "2019", _JERICHO2,
         "16 MB on the chip of a routing line card, shared by its ports"),
    Tier("shared memory of a large switch chip", _LARGE_CHIP, "2020",
         f"{_WARNER}: Trident 4, from the Juniper QFX5130 data sheet",
         "up to 132 MB on the chip, shared by all its ports"),
    Tier("external memory", _HBM, "2019", _JERICHO2, "8 GB of stacked DRAM (HBM) next to the chip"),
    Tier("external memory of several chips", None, "2019", _JERICHO2,
         "more than the 8 GB next to one chip"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReferencePoint:
    """A published size, for comparison with an answer."""

    says: str
    date: str
    source: str


_OF_2004 = ("2004", "Appenzeller et al. 2004, §1.3")
REFERENCE_POINTS = (
    ReferencePoint("vendor guidance: 5 to 10 ms in the core, 10 to 30 ms at the edge", "2018-05",
                   "L. Wigley (Cisco), An Update on Router Buffering, executive summary"),
    ReferencePoint("production OC-48, about 10,000 flows, 190 ms by default: no drops at 5 ms, "
                   "under 0.2 % at 1 ms", "2008",
                   "N. Beheshti et al., Experimental Study of Router Buffer Sizing, IMC 2008"),
    ReferencePoint("a 40 Gbit/s line card with 250 ms: 10 Gbit, 10 DRAM chips of 1 Gbit",
                   *_OF_2004),
    ReferencePoint("packet processors with 256 Mbit of embedded DRAM: 2 % of that card's buffer "
                   "fits", *_OF_2004),
    ReferencePoint("10 Gbit/s with 50,000 flows: 10 Mbit, on-chip SRAM",
                   "2004", "Appenzeller et al. 2004, abstract"),
    ReferencePoint("Broadcom Tomahawk 2: 42 MB on the chip, for all ports", "2018",
                   "Cisco Live slide, in J. Warner's (UC Santa Cruz) collection of buffer sizes"),
    ReferencePoint("Broadcom Tomahawk 5, 64 ports of 800 Gbit/s: 165 MB on the chip, for all ports",
                   "2023", "Arista 7060X6 series data sheet"),
    ReferencePoint("Cisco Silicon One G200, 64 ports of 800 Gbit/s: 256 MB on the chip, for all "
                   "ports", "2023", "Cisco Silicon One product family data sheet"),
    ReferencePoint("the largest SRAM chip then sold: 36 Mbit (4.5 MB)", *_OF_2004),
)  # fmt: skip


def _text(size: int, tier: Tier) -> str:
    """Return one line that compares a size with the memories nearest to it."""
    small, large = (_share(size, whole) for whole in (_SMALL_CHIP, _LARGE_CHIP))
    external = _share(size, _HBM)
    parts = {_SMALL_CHIP: (small, large), _LARGE_CHIP: (small, large), _HBM: (large, external)}
    said = ", ".join((_amount(8 * size, "bit"), *parts.get(tier.most_bytes or 0, (external,))))
    return f"{said}: fits {tier.name} ({tier.says}; {tier.date})"


def _share(size: int, whole: int) -> str:
    """Return "0.68 % of 16 MB", or "5.4 times 16 MB" if it is larger."""
    name = f"{whole // 10**9} GB" if whole >= 10**9 else f"{whole // 10**6} MB"
    ratio = size / whole
    if ratio > 1:
        return f"{ratio:.2g} times {name}" if ratio < 99 else f"{ratio:.0f} times {name}"
    percent = 100 * ratio
    if percent < 0.01:
        return f"under 0.01 % of {name}"
    return f"{percent:.2f} % of {name}" if percent < 1 else f"{percent:.0f} % of {name}"


def memory_for(size: int, rate_bps: float | None = None, ports: int = 1) -> Memory:
    """Return the memory that ``size`` bytes of buffer need at a rate in bit/s.

    ``ports`` of a chip have this buffer each: tier, shares and text are those of all together.
    """
    together = f"{ports} ports of {_amount(size)} are {_amount(size * ports)}: "
    size *= ports
    tier = next(one for one in TIERS if one.most_bytes is None or size <= one.most_bytes)
    chips = {"16 MB": _SMALL_CHIP, "64 MB": _MIDDLE_CHIP, "132 MB": _LARGE_CHIP}
    shares = {name: size / whole for name, whole in chips.items()}
    fast = None if rate_bps is None else 8 * _LEAST_PACKET / rate_bps < _DRAM_ACCESS_S
    return Memory(
        bytes=size, ports=ports, tier=tier.name, date=tier.date, source=tier.source,
        ram_bits=ram_device_bits(size), pool_shares=shares,
        fits_sram_of_2004=8 * size <= _SRAM_2004_BITS, faster_than_one_dram=fast,
        text=("" if ports == 1 else together) + _text(size, tier),
    )  # fmt: skip


def _amount(size: int, unit: str = "B") -> str:
    for prefix, factor in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if size >= factor:
            return f"{size / factor:.3g} {prefix}{unit}"
    return f"{size:.3g} {unit}"


def ram_device_bits(size: int) -> int:
    """Return the bits of the smallest power-of-two RAM that holds ``size`` bytes (Figure 15)."""
    return 1 << max(8 * size - 1, 0).bit_length()
