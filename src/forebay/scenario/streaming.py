"""Classes of streamed media: generated video, and packets as they were captured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, Strict

from forebay.scenario.bounds import Between
from forebay.scenario.open_loop import Rated
from forebay.scenario.packet_list import PacketList
from forebay.scenario.quantity import DataSize
from forebay.scenario.source import Standing

if TYPE_CHECKING:
    from typing import Unpack

    from forebay.scenario.inputs import ReplayFields, VideoFields


class Video(Rated):
    """Long-range-dependent video: frames whose sizes are lognormal, made from exact fractional
    Gaussian noise, and cut into packets. The rate is that of each flow's own run."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[VideoFields]) -> None: ...

    kind: Literal["video"] = Field(
        default="video", description="What the flows do: stream video, whatever is lost."
    )
    hurst: Annotated[float, Strict(), Between(0.5, 0.99, "")] = Field(
        default=0.96,
        description="Hurst parameter of the frame sizes; 0.5 is without memory.",
    )
    frame_rate: Annotated[float, Strict(), Between(1.0, 1000.0, "frames/s")] = Field(
        default=60.0,
        description="Frames sent in a second. Volume over shorter times is packet noise, over "
        "longer ones fractional noise: the knee of the burstiness lies at one frame, 16.7 ms.",
    )
    variation: Annotated[float, Strict(), Between(0.0, 3.0, "")] = Field(
        default=0.5,
        description="Standard deviation of the frame sizes over their mean, of the film without "
        "end; within one run less, for with a Hurst parameter near 1 the mean itself strays.",
    )
    spacing: Literal["burst", "even"] = Field(
        default="burst",
        description="Packets of a frame: at once, apart only as the access link spaces them, or "
        "evenly over the frame's time.",
    )

    def packets_in(self, seconds: float, link_rate: float) -> float:
        """Return an upper bound of the expected packets of all flows in so many seconds."""
        frames = max(seconds * self.frame_rate, 1.0 if self.spacing == "burst" else 0.0)
        full = self.flow_rate(link_rate) / (8 * self.packet * self.frame_rate)
        return self.flows * (1 + frames * (full + 1))


class Replay(Standing):
    """Packets as a file lists them, played once by each flow from its start on."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[ReplayFields]) -> None: ...

    kind: Literal["replay"] = Field(
        default="replay", description="What the flows do: send the packets of a list."
    )
    file: PacketList = Field(
        description="Path of a CSV file, from the scenario file's folder: on each line the time "
        'in seconds and the packet\'s bytes, after an optional first line "time_s,bytes"; times '
        "do not fall; at most 5000000 packets of 1 to 65535 B in 86400 s.",
        examples=["film.csv"],
    )

    @property
    def packet(self) -> DataSize:
        """Mean size of the listed packets, rounded to whole bytes."""
        return DataSize(round(self.file.total_bytes / len(self.file)))

    def flow_rate(self, link_rate: float) -> float:
        """Return the mean rate of one flow while it plays, bit/s; the link's changes nothing."""
        return 8.0 * self.file.total_bytes / max(self.file.length_s, 1e-12)

    def most_packets(self) -> int:
        """Return how many packets all flows can send."""
        return self.flows * len(self.file)
