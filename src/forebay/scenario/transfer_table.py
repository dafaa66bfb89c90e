"""A table of transfers from a CSV or Parquet file: one row each, in any order of time."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from forebay.catalogue import CONTROLS
from forebay.scenario.base import DAY, FromFile
from forebay.scenario.errors import ScenarioError, show

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_TRANSFERS = 20_000_000
NEEDED = ("start_s", "size_bytes")
TEXTS = ("congestion_control", "source", "target", "route")
COLUMNS = (*NEEDED, "rtt_s", *TEXTS)
_WRITE = f"write the names {', '.join(COLUMNS)} in the first line; the first two are needed"
_PS_PER_S = 1e12
_LIMITS = {"start_s": (0.0, float(DAY)), "size_bytes": (1.0, 1e13), "rtt_s": (1e-6, 60.0)}


@dataclass(frozen=True, slots=True)
class TransferTable(FromFile):
    """Transfers. Two tables are equal if their rows are.

    Attributes
    ----------
    path : str
        Path of the file; relative to the current folder, or absolute; "" if it is no file's.
    digest : str
        SHA-256 of the rows.
    start_ps, size_bytes : int64, shape (transfers,)
    rtt_ps : int64, shape (transfers,), or None
    texts : the other columns by name, each a list of text; "" in a cell is none.
    """

    file_kind: ClassVar[str] = "a CSV or Parquet file"

    digest: str
    path: str = field(compare=False)
    start_ps: NDArray[np.int64] = field(compare=False, repr=False)
    size_bytes: NDArray[np.int64] = field(compare=False, repr=False)
    rtt_ps: NDArray[np.int64] | None = field(compare=False, repr=False)
    texts: Mapping[str, Sequence[str]] = field(compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.start_ps)

    @property
    def length_s(self) -> float:
        """The last start, seconds."""
        return float(self.start_ps.max()) / _PS_PER_S

    @property
    def control_names(self) -> set[str]:
        """Names of the congestion controls of its transfers."""
        return set(self.texts.get("congestion_control", ())) - {""}

    def canonical(self) -> dict[str, str]:
        """Return the rows, independent of the path."""
        return {"transfers": self.digest}

    @classmethod
    def of(cls, path: str, content: bytes) -> Self:
        """Return the transfers of a file's content. Raises ScenarioError, MissingPackage."""
        read = _parquet if path.lower().endswith(".parquet") else _csv
        columns = read(path, content)
        unknown = [name for name in columns if name not in COLUMNS]
        missing = [name for name in NEEDED if name not in columns]
        if unknown or missing:
            wrong = f"there is no column {missing[0]}" if missing else f"column {show(unknown[0])}"
            raise _wrong(path, wrong)
        return cls.from_columns(columns, path)

    @classmethod
    def from_columns(cls, columns: Mapping[str, Sequence[Any]], path: str = "") -> Self:
        """Return the transfers of columns by name, of equal length. Raises ScenarioError."""
        rows = len(columns["start_s"])
        if not 0 < rows <= MOST_TRANSFERS:
            raise _wrong(path, f"it has {rows} transfers, not 1 to {MOST_TRANSFERS}")
        numbers = {name: _numbers(path, name, columns[name]) for name in _LIMITS if name in columns}
        rtt = numbers.get("rtt_s")
        texts = {name: list(map(_text, columns[name])) for name in TEXTS if name in columns}
        _check_controls(path, texts.get("congestion_control", ()))
        times = (numbers["start_s"] * _PS_PER_S).round().astype("int64")
        sizes = numbers["size_bytes"].round().astype("int64")
        trips = None if rtt is None else (rtt * _PS_PER_S).round().astype("int64")
        digest = hashlib.sha256(times.tobytes() + sizes.tobytes())
        digest.update(b"" if trips is None else trips.tobytes())
        for name, values in texts.items():
            digest.update("\n".join([name, *values]).encode())
        return cls(digest.hexdigest(), path, times, sizes, trips, texts)


def _numbers(path: str, name: str, values: Sequence[Any]) -> NDArray[np.float64]:
    import numpy as np

    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        row, cell = next(each for each in enumerate(values, 1) if not _is_number(each[1]))
        said = f"is {show(cell)}, no number" if _text(cell) else "is blank; a number is needed"
        raise _wrong(path, f"row {row}: {name} {said}") from None
    low, high = _LIMITS[name]
    bad = ~((found >= low) & (found <= high))
    if bad.any():
        row = int(bad.argmax())
        raise _wrong(path, f"row {row + 1}: {name} is {found[row]:g}, not from {low:g} to {high:g}")
    return found


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()


def _check_controls(path: str, names: Sequence[str]) -> None:
    unknown = {name for name in set(names) if name and name not in CONTROLS}
    for row, name in enumerate(names, 1):
        if name in unknown:
            raise _wrong(path, f"row {row}: {show(name)} is not a known congestion control")


def _csv(path: str, content: bytes) -> dict[str, Sequence[Any]]:
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error):
        raise _wrong(path, "it is no CSV file") from None
    rows = [row for row in rows if row]
    if len(rows) < 2:
        raise _wrong(path, "it has no transfers")
    head = [name.strip() for name in rows[0]]
    ragged = next((at for at, row in enumerate(rows[1:], 1) if len(row) != len(head)), None)
    if ragged is not None:
        raise _wrong(path, f"row {ragged} has not {len(head)} cells, as the first line")
    return dict(zip(head, zip(*rows[1:], strict=True), strict=True))


def _parquet(path: str, content: bytes) -> dict[str, Sequence[Any]]:
    from forebay.packages import import_package

    pyarrow = import_package("a Parquet file", "pyarrow")
    from pyarrow import parquet

    try:
        table = parquet.read_table(io.BytesIO(content))
    except pyarrow.ArrowException:
        raise _wrong(path, "it is no Parquet file") from None
    return {name: table.column(name).to_pylist() for name in table.column_names}


def _wrong(path: str, what: str) -> ScenarioError:
    return ScenarioError("bad-transfers", f"{show(path) if path else 'transfers'}: {what}", _WRITE)
