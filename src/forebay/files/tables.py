"""Tables in files: CSV, or Parquet where pyarrow is installed."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from typing import Any

from forebay.files.atomic import replacing
from forebay.packages import import_package

Row = tuple[Any, ...]


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Whether the name ends in .parquet."""
    return os.fspath(path).lower().endswith(".parquet")


def write_table(path: str | os.PathLike[str], columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Write rows in the format of the name's ending; no file is left half written."""
    with replacing(path) as raw:
        if is_parquet(path):
            _write_parquet(raw, columns, rows)
            return
        with io.TextIOWrapper(raw, "utf-8", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(columns)
            out.writerows(rows)


def _write_parquet(raw: Any, columns: Sequence[str], rows: Sequence[Row]) -> None:
    pyarrow = import_package("a Parquet file", "pyarrow")
    from pyarrow import parquet

    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    made = pyarrow.table({name: list(of) for name, of in zip(columns, values, strict=True)})
    parquet.write_table(made, raw)
