"""The table of flows as columns: rows, files, and what it says without pyarrow."""

import csv
import sys

import numpy as np
import pytest

from forebay.outcome.model import FlowTable
from forebay.packages import MissingPackage


def table(*sizes: float) -> FlowTable:
    rows = len(sizes)
    return FlowTable(
        {
            "flow": np.arange(rows),
            "control": np.array(["reno"] * rows, dtype=object),
            "size_bytes": np.array(sizes, dtype=float),
            "rtt_s": np.full(rows, 0.25),
            "unfinished": np.array([each % 2 == 0 for each in range(rows)]),
        }
    )


def test_columns_are_read_only_and_tables_follow_each_other():
    made = FlowTable.concatenate([table(1000.0), table(2000.0, np.nan)])
    assert made.rows == 3 and "3 rows" in repr(made)
    assert made["size_bytes"][:2].tolist() == [1000.0, 2000.0]
    with pytest.raises(ValueError, match="read-only"):
        made["flow"][0] = 7
    alone = table(1000.0)
    assert FlowTable.concatenate([alone]) is alone
    assert hash(alone) != hash(made)


@pytest.mark.parametrize("sizes", [(1000.0, np.nan), ()])
def test_a_csv_file_has_whole_sizes_words_and_empty_cells(tmp_path, sizes):
    table(*sizes).export(tmp_path / "flows.csv")
    head, *rows = list(csv.reader((tmp_path / "flows.csv").read_text("utf-8").splitlines()))
    assert head == ["flow", "control", "size_bytes", "rtt_s", "unfinished"]
    whole = [["0", "reno", "1000", "0.25", "true"], ["1", "reno", "", "0.25", "false"]]
    assert rows == whole[: len(sizes)]


def test_without_pyarrow_a_parquet_file_is_refused_and_none_is_left(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPackage, match="parquet"):
        table(1.0).export(tmp_path / "flows.parquet")
    with pytest.raises(MissingPackage, match="Arrow stream"):
        table(1.0).__arrow_c_stream__()
    assert list(tmp_path.iterdir()) == []
