"""What a sizing says besides the buffer: losses, AQM, memory, cost, smaller links, its law."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from forebay.outcome.document import Closed
from forebay.outcome.model import Metric


class LinkRegime(Closed):
    """The law that governs the link, why, and what would change it; text for users."""

    regime: str
    law: str | None
    why: str
    would_change: str


class _Aqm(Closed):
    packet_s: float
    packet_bytes: int
    limit_packets: int
    ecn: bool = False


class AqmTarget(_Aqm):
    """codel, fq_codel, pie, dualpi2, cobalt: the target was sized, ``limit_packets`` is a guard.

    ``interval_s`` is that of the scenario; None for pie and dualpi2, which have none. For cake it
    is the rtt, which was sized; the target is a twentieth of it.
    """

    discipline: Literal["codel", "fq_codel", "pie", "dualpi2", "cobalt", "cake"]
    parameter: Literal["target"] = "target"
    target_s: float
    interval_s: float | None


class AqmThresholds(_Aqm):
    """red: its thresholds were sized, ``limit_packets`` is a guard; ``probability`` is at max."""

    discipline: Literal["red"]
    parameter: Literal["min"] = "min"
    min_bytes: int
    max_bytes: int
    probability: float

    @property
    def is_step(self) -> bool:
        """Whether max is just above min: a step K, as dctcp wants it."""
        return self.max_bytes - self.min_bytes <= self.packet_bytes


class LinkSize(Closed):
    """The size that one link of a class needs, if all of the class had it.

    ``packets`` is the smallest size tried that meets its goals, None if none does; sizes below
    ``low`` were shown to miss. ``binding`` names the goals that the next smaller one tried misses.
    """

    link: str
    packets: int | None
    low: int
    binding: tuple[str, ...] = ()


Aqm = Annotated[AqmTarget | AqmThresholds, Field(discriminator="parameter")]
"""The configuration of an AQM discipline."""


class Memory(Closed):
    """The memory for buffers of ``bytes`` together, of ``ports`` ports of one chip.

    ``tier`` is the smallest kind of memory that suffices, with date and source. ``ram_bits`` is
    the smallest RAM device whose bits are a power of two, as in the column RAM of Appenzeller et
    al. 2004, Figure 15. ``pool_shares`` are its shares of 16, 64 and 132 MB of a chip's memory;
    ``fits_sram_of_2004`` compares it with the largest SRAM chip of that year (§1.3).
    ``faster_than_one_dram`` is whether packets of 40 B at the port's rate arrive faster than the
    access time of one DRAM of 2004 (50 ns); None without a rate. ``text`` is a line for users.
    """

    bytes: int
    ports: int = 1
    tier: str
    date: str
    source: str
    ram_bits: int
    pool_shares: dict[str, float]
    fits_sram_of_2004: bool
    faster_than_one_dram: bool | None
    text: str


class Cost(Closed):
    """Expected and actual seconds of an answer, and the limit ``budget_s``."""

    predicted_s: float
    spent_s: float
    budget_s: float | None = None


class Cheaper(Closed):
    """What the link does with a share of the recommended size; metrics are those of the link."""

    share: float
    packets: int
    utilization: Metric | None
    loss_rate: Metric | None
    queue_delay_mean_s: Metric | None
    queue_delay_p99_s: Metric | None


class ScaledLink(Closed):
    """A link that was simulated instead of a larger one.

    ``packets`` is the buffer at which its goals are just met, over ``packets.n`` replications;
    ``flows`` is its number of long flows, ``window_packets`` the window of one of them.
    """

    factor: float
    rate_bps: float
    flows: int
    window_packets: float | None
    packets: Metric


class Scaled(Closed):
    """The extrapolation of an answer from smaller links to one that could not be simulated.

    Attributes
    ----------
    factor : rate of the link over that of the largest simulated link.
    error : possible error of the answer, as a share of it.
    links : the simulated links, the largest first.
    exponent : exponent of the buffer in packets as a function of the rate, over these links.
    flows_share : 1 if the number of flows was scaled with the rate and windows were not; 0 if
        windows were scaled and the number of flows was not; between 0 and 1, both.
    """

    factor: float
    error: Metric
    links: tuple[ScaledLink, ...]
    exponent: Metric
    flows_share: float = 1.0
