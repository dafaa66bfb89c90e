"""A list of packets from a CSV file: times and sizes, read and checked once."""

from __future__ import annotations

import builtins
import hashlib
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, ClassVar, Self

from forebay.scenario.base import FromFile
from forebay.scenario.errors import ScenarioError, show

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_PACKETS = 5_000_000
_HEADER = b"time_s,bytes"
_LINE = 'write "seconds,bytes" on each line, such as 0.016667,1500'


@dataclass(frozen=True, slots=True)
class PacketList(FromFile):
    """Packets in order of time. Two lists are equal if they hold the same packets.

    Attributes
    ----------
    path : str
        Where they came from; relative to the current folder, or absolute.
    digest : str
        SHA-256 of the packets.
    at_ps : int64, shape (packets,)
        When each is sent, after the start, in picoseconds; never falling.
    bytes : int32, shape (packets,)
    """

    file_kind: ClassVar[str] = "a CSV file"

    digest: str
    path: str = field(compare=False)
    at_ps: NDArray[np.int64] = field(compare=False, repr=False)
    bytes: NDArray[np.int32] = field(compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.at_ps)

    @property
    def total_bytes(self) -> int:
        """Bytes of all packets together."""
        return int(self.bytes.sum(dtype="int64"))

    @property
    def length_s(self) -> float:
        """Seconds from the first packet to the last, and one mean gap more."""
        span, gaps = int(self.at_ps[-1] - self.at_ps[0]), len(self) - 1
        return span * (gaps + 1) / gaps / 1e12 if gaps else 0.0

    def canonical(self) -> dict[str, str]:
        """Return what the list holds, wherever it lies."""
        return {"packets": self.digest}

    @classmethod
    def of(cls, path: str, content: builtins.bytes) -> Self:
        """Return the packets of a CSV file."""
        import numpy as np

        rows = _rows(path, content)
        times, sizes = rows[:, 0], rows[:, 1]
        for bad, what in (
            (~((times >= 0) & (times <= 86_400)), "time is not from 0 to 86400 s"),
            (
                ~((sizes >= 1) & (sizes <= 65_535) & (sizes == np.floor(sizes))),
                "size is not whole, from 1 to 65535",
            ),
            (np.diff(times, prepend=0.0) < 0, "time is before that of the packet above"),
        ):
            if bad.any():
                raise _wrong(path, f"packet {int(bad.argmax()) + 1}: its {what}")
        at_ps, octets = np.rint(times * 1e12).astype(np.int64), sizes.astype(np.int32)
        for array in (at_ps, octets):
            array.setflags(write=False)
        digest = hashlib.sha256(at_ps.astype("<i8").tobytes() + octets.astype("<i4").tobytes())
        return cls(digest.hexdigest(), path, at_ps, octets)


def _rows(path: str, content: bytes) -> NDArray[np.float64]:
    """Return times in seconds and sizes in bytes, shape (packets, 2)."""
    import numpy as np

    body = content.removeprefix(b"\xef\xbb\xbf")
    first, _, rest = body.partition(b"\n")
    if first.strip().replace(b" ", b"") == _HEADER:
        body = rest
    if not body.strip():
        raise _wrong(path, "it holds no packets")
    if body.translate(None, b"0123456789+-.eE, \t\r\n"):
        raise _wrong(path, "it holds something else than numbers and commas")
    if body.count(b"\n") > MOST_PACKETS:
        raise _wrong(path, f"it has more than {MOST_PACKETS} lines")
    try:
        rows = np.loadtxt(BytesIO(body), delimiter=",", ndmin=2, comments=None)
    except ValueError:
        rows = np.empty((0, 0))
    if rows.shape[1] != 2:
        raise _wrong(path, "a line is not two numbers")
    return rows


def _wrong(path: str, what: str) -> ScenarioError:
    return ScenarioError("bad-packets", f"{show(path)}: {what}", _LINE)
