"""Tables in files: CSV, or Parquet where pyarrow is installed."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from typing import Any

from forebay.errors import ForebayError
from forebay.files.atomic import replacing

Row = tuple[Any, ...]


class NoPyarrow(ForebayError):
    """The optional package pyarrow is missing."""

    code = "missing-package"
    exit_status = 3
    hint = "run `pip install 'forebay[parquet]'`, or write a name that ends in .csv"

    def __init__(self, needs: str) -> None:
        self.needs = needs
        super().__init__(f"{needs} needs pyarrow, which is missing; {self.hint}")


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Whether the name ends in .parquet."""
    return os.fspath(path).lower().endswith(".parquet")


def import_pyarrow(needs: str) -> Any:
    """Return the module pyarrow. Raises NoPyarrow."""
    try:
        import pyarrow
    except ImportError:
        raise NoPyarrow(needs) from None
    return pyarrow


def check_format(path: str | os.PathLike[str]) -> None:
    """Refuse a Parquet file before there is work for it. Raises NoPyarrow."""
    if is_parquet(path):
        import_pyarrow("a Parquet file")


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
    pyarrow = import_pyarrow("a Parquet file")
    from pyarrow import parquet

    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    made = pyarrow.table({name: list(of) for name, of in zip(columns, values, strict=True)})
    parquet.write_table(made, raw)
