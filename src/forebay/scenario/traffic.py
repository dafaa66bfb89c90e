"""Traffic without congestion control: datagrams, on-off, video, packet lists.

`Traffic` is any kind, selected by ``kind``; `forebay.scenario.tcp` has those with TCP.
"""

from __future__ import annotations

import builtins
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from io import BytesIO
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, Unpack, get_args

import numpy as np
from pydantic import Discriminator, Field, Strict, Tag, model_validator

from forebay import catalogue
from forebay.scenario.base import RATES, Between, FromFile, such_as
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import DataSize, Rate
from forebay.scenario.source import LOADS, Datagrams, OfADay, Sized
from forebay.scenario.tcp import Long, Requests, Session, Short
from forebay.scenario.transfers import Transfers
from forebay.words import Fact

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forebay.scenario import inputs

MOST_PACKETS = 5_000_000
_HEADER = b"time_s,bytes"


@dataclass(frozen=True, slots=True)
class PacketList(FromFile):
    """Packets in order of time. Two lists are equal if their packets are.

    Attributes
    ----------
    path : of their file; relative to the current folder, or absolute.
    digest : SHA-256 of the packets.
    at_ps : int64, shape (packets,), sending time of each after the start; never decreasing.
    bytes : int32, shape (packets,)
    """

    file_kind: ClassVar[str] = "a CSV file"
    content_kind: ClassVar[str] = "packets"

    digest: str
    path: str = field(compare=False)
    at_ps: NDArray[np.int64] = field(compare=False, repr=False)
    bytes: NDArray[np.int32] = field(compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.at_ps)

    @property
    def total_bytes(self) -> int:
        """Bytes of all packets."""
        return int(self.bytes.sum(dtype="int64"))

    @property
    def length_s(self) -> float:
        """Seconds from the first packet to the last, plus one mean gap."""
        span, gaps = int(self.at_ps[-1] - self.at_ps[0]), len(self) - 1
        return span * (gaps + 1) / gaps / 1e12 if gaps else 0.0

    @classmethod
    def of(cls, path: str, content: builtins.bytes) -> Self:
        """Return the packets of a CSV file."""
        rows = _rows(path, content)
        times, sizes = rows[:, 0], rows[:, 1]
        fits = (sizes >= 1) & (sizes <= 65_535) & (sizes == np.floor(sizes))
        for bad, kind in (
            (~((times >= 0) & (times <= 86_400)), "packets.time"),
            (~fits, "packets.size"),
            (np.diff(times, prepend=0.0) < 0, "packets.order"),
        ):
            if bad.any():
                raise _wrong(path, Fact(kind, row=int(bad.argmax()) + 1))
        at_ps, octets = np.rint(times * 1e12).astype(np.int64), sizes.astype(np.int32)
        for array in (at_ps, octets):
            array.setflags(write=False)
        digest = hashlib.sha256(at_ps.astype("<i8").tobytes() + octets.astype("<i4").tobytes())
        return cls(digest.hexdigest(), path, at_ps, octets)


def _rows(path: str, content: bytes) -> NDArray[np.float64]:
    """Return times in seconds and sizes in bytes, shape (packets, 2)."""
    body = content.removeprefix(b"\xef\xbb\xbf")
    first, _, rest = body.partition(b"\n")
    if first.strip().replace(b" ", b"") == _HEADER:
        body = rest
    if not body.strip():
        raise _wrong(path, Fact("packets.none"))
    if body.translate(None, b"0123456789+-.eE, \t\r\n"):
        raise _wrong(path, Fact("packets.text"))
    if body.count(b"\n") > MOST_PACKETS:
        raise _wrong(path, Fact("packets.lines", most=MOST_PACKETS))
    try:
        rows = np.loadtxt(BytesIO(body), delimiter=",", ndmin=2, comments=None)
    except ValueError:
        rows = np.empty((0, 0))
    if rows.shape[1] != 2:
        raise _wrong(path, Fact("packets.cells"))
    return rows


def _wrong(path: str, what: Fact) -> ScenarioError:
    return ScenarioError("bad-packets.file", value=path, what=what)


class Rated(Datagrams, Sized):
    """A class with a given rate."""

    rate: Annotated[Rate | None, RATES] = such_as("64 kbit/s")
    """Mean rate of each flow, headers included; either this or load."""
    load: Annotated[float | None, Strict(), LOADS] = such_as(0.1)
    """All the class's flows together as a share of the link's rate, or of a network's offered load;
    either this or rate."""

    @model_validator(mode="after")
    def _offered_once(self) -> Self:
        return self.with_one_of("rate", "load", ("rate", "1 Mbit/s"))

    def flow_rate(self, link_rate: float) -> float:
        if self.rate is not None:
            return self.rate
        return (self.load or 0.0) * link_rate / self.flows

    def flow_peak(self, link_rate: float) -> float:
        return self.flow_rate(link_rate)

    def packets_in(self, seconds: float, link_rate: float) -> float:
        return self.flows * (1 + seconds * self.flow_rate(link_rate) / (8 * self.packet))


class Udp(Rated):
    """Datagrams of one size at a constant rate, or as a Poisson process.

    >>> forebay.Udp(flows=4, rate="1 Mbit/s")
    Udp(flows=4, rate='1 Mbit/s')
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.UdpFields]) -> None: ...

    kind: Literal["udp"] = "udp"
    """What the flows do: send datagrams."""
    arrivals: Literal["constant", "poisson"] = "constant"
    """Gaps between the datagrams of a flow: all equal ("constant"), or exponential ("poisson")."""


class OnOff(Datagrams, Sized):
    """Datagrams at a peak rate in on times, none in off times; a flow starts in an on time.

    >>> forebay.OnOff(flows=20, peak_rate="1 Mbit/s", on="100 ms", off="400 ms")
    OnOff(flows=20, peak_rate='1 Mbit/s', on='100 ms', off='400 ms')
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.OnOffFields]) -> None: ...

    kind: Literal["onoff"] = "onoff"
    """What the flows do: send datagrams on and off."""
    peak_rate: Annotated[Rate, RATES] = Field(examples=["1 Mbit/s"])
    """Rate of each flow while it is on, headers included."""
    on: OfADay = Field(examples=[{"exponential": "350 ms"}])
    """How long a flow sends: a distribution."""
    off: OfADay = Field(examples=[{"pareto": {"mean": "650 ms", "shape": 1.5, "high": "100 s"}}])
    """How long it pauses after that: a distribution."""

    def flow_peak(self, link_rate: float) -> float:
        return self.peak_rate

    def periods(self, seconds: float) -> float:
        """Return the approximate number of on times of one flow in `seconds`."""
        cycle = self.on.mean_within(seconds) + self.off.mean_within(seconds)
        return 1 + seconds / max(cycle, 1e-12)

    def flow_rate(self, link_rate: float) -> float:
        cycle = self.on.mean + self.off.mean
        return self.peak_rate * self.on.mean / cycle if cycle else self.peak_rate

    def peak(self, link_rate: float) -> float:
        """Return the rate at which all flows are on, within their access links, bit/s."""
        return min(super().peak(link_rate), self.flows * self.peak_rate)

    def packets_in(self, seconds: float, link_rate: float) -> float:
        """Return the approximate packets of all flows in `seconds`; each starts with an on time."""
        sending = min(seconds, self.on.mean_within(seconds) * self.periods(seconds))
        return self.flows * (1 + sending * self.peak_rate / (8 * self.packet))


class Video(Rated):
    """Long-range-dependent video: frames with lognormal sizes from exact fractional Gaussian noise,
    divided into packets. Each flow has this mean rate in its own run.

    >>> forebay.Video(flows=2, load=0.2)
    Video(flows=2, load=0.2)
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.VideoFields]) -> None: ...

    kind: Literal["video"] = "video"
    """What the flows do: stream video, independent of losses."""
    hurst: Annotated[float, Strict(), Between(0.5, 0.99, "")] = 0.96
    """Hurst parameter of the frame sizes; 0.5 is without memory."""
    frame_rate: Annotated[float, Strict(), Between(1.0, 1000.0, "frames/s")] = 60.0
    """Frames sent in a second. The volume over shorter times is packet noise, over longer times
    fractional noise: the knee of the burstiness is at one frame, 16.7 ms."""
    variation: Annotated[float, Strict(), Between(0.0, 3.0, "")] = 0.5
    """Standard deviation of the frame sizes over their mean, for a film without end. Within one run
    it is smaller, because the mean itself varies if the Hurst parameter is near 1."""
    spacing: Literal["burst", "even"] = "burst"
    """Packets of a frame: all at once, spaced only by the access link, or evenly over the frame's
    time."""

    def packets_in(self, seconds: float, link_rate: float) -> float:
        """Return an upper bound of the expected packets of all flows in `seconds`."""
        frames = max(seconds * self.frame_rate, 1.0 if self.spacing == "burst" else 0.0)
        full = self.flow_rate(link_rate) / (8 * self.packet * self.frame_rate)
        return self.flows * (1 + frames * (full + 1))


class Replay(Datagrams):
    """Packets from a file; each flow sends them once after its start.

    >>> try:
    ...     forebay.Replay(flows=1, file="packets.csv")
    ... except forebay.ScenarioError as error:
    ...     print(error.code)
    file-unreadable
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.ReplayFields]) -> None: ...

    kind: Literal["replay"] = "replay"
    """What the flows do: send the packets of a list."""
    file: PacketList = Field(examples=["film.csv"])
    """Path of a CSV file, relative to the scenario file's folder: each line has the time in seconds
    and the packet's bytes, after an optional first line "time_s,bytes"; times must not decrease; at
    most 5000000 packets of 1 to 65535 B in 86400 s."""

    @property
    def packet(self) -> DataSize:
        """Mean size of the listed packets, rounded to whole bytes."""
        return DataSize(round(self.file.total_bytes / len(self.file)))

    def flow_rate(self, link_rate: float) -> float:
        return 8.0 * self.file.total_bytes / max(self.file.length_s, 1e-12)

    def most_packets(self) -> int:
        """Return the number of packets that all flows can send."""
        return self.flows * len(self.file)

    def packets_in(self, seconds: float, link_rate: float) -> float:
        """Return the number of packets that all flows can send, however short the time."""
        return float(self.most_packets())

    @property
    def largest_packet(self) -> int:
        """Largest listed packet, bytes."""
        return int(self.file.bytes.max())


OpenLoop = Udp | OnOff | Video | Replay
"""Classes that do not respond to losses."""


def _kind(value: Any) -> Any:
    """Return the kind that a table names, "long" by default; not a known one if it is not text."""
    named = getattr(value, "kind", "long")
    if isinstance(value, Mapping):
        named = value.get("kind", "long")
    return named if isinstance(named, str) else repr(named)[:60]


if TYPE_CHECKING:
    Traffic = Long | Short | Session | Requests | Transfers | OpenLoop
else:
    Traffic = Annotated[
        reduce(
            or_,
            (
                Annotated[model, Tag(model.model_fields["kind"].default)]
                for model in (Long, Short, Session, Requests, Transfers, *get_args(OpenLoop))
            ),
        ),
        Discriminator(_kind),
    ]
    """Any traffic class; all have ``kind flows packet direction access_rate``."""

KINDS: tuple[str, ...] = tuple(catalogue.KINDS)
"""All kinds, in the order of `Traffic`."""
