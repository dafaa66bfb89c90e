"""A list of packets from a CSV file: times and sizes, read and checked once."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, SerializationInfo, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from forebay.scenario.errors import ScenarioError, show

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDER = "folder"
"""Key of the validation context: where relative paths begin."""

MOST_PACKETS = 5_000_000
_MOST_BYTES = 256 * 1024 * 1024
_HEADER = b"time_s,bytes"
_LINE = 'write "seconds,bytes" on each line, such as 0.016667,1500'


def written_path(path: str, info: SerializationInfo) -> str:
    """Return a path as a file in the context's folder writes it; else as it is."""
    folder = (info.context or {}).get(FOLDER)
    return path if folder is None or os.path.isabs(path) else os.path.relpath(path, folder)


@dataclass(frozen=True, slots=True)
class PacketList:
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
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(
            _parse,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda it, info: (
                    written_path(it.path, info) if info.mode == "json" else it.canonical()
                ),
                info_arg=True,
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "string", "minLength": 1}


def _written(file: PacketList, info: SerializationInfo) -> Any:
    return written_path(file.path, info) if info.mode == "json" else file.canonical()


def _parse(value: object, info: ValidationInfo) -> PacketList:
    if isinstance(value, PacketList):
        return value
    if not isinstance(value, str) or not value:
        wrong, hint = f"{show(value)} is not a path", "write the path of a CSV file in quotes"
        raise ScenarioError("wrong-type", wrong, hint, value=value)
    folder = (info.context or {}).get(FOLDER, "")
    path = os.path.join(folder, value)
    return _packets(path, _content(path))


def _content(path: str) -> bytes:
    """Read a regular file; opening a pipe or a device could wait for ever."""
    hint = "write the path of a CSV file that you may read"
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ScenarioError("file-unreadable", f"{show(path)} is no regular file", hint)
        with Path(path).open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, ScenarioError):
            raise
        reason = getattr(error, "strerror", None) or error
        wrong = f"{show(path)} cannot be read ({reason})"
        raise ScenarioError("file-unreadable", wrong, hint) from None
    if len(content) > _MOST_BYTES:
        hint = "write the path of a smaller file"
        raise ScenarioError("file-too-large", f"{show(path)} is larger than 256 MiB", hint)
    return content


def _packets(path: str, content: bytes) -> PacketList:
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
    return PacketList(digest.hexdigest(), path, at_ps, octets)


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
