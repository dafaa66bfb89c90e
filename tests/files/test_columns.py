"""Columns in CSV files: each value is read back as it was."""

import csv
from pathlib import Path

import numpy as np
import pytest

from forebay._core import csv_rows
from forebay.files.columns import write_columns


def block(rows: int) -> dict[str, np.ndarray]:
    draws = np.random.default_rng(1)
    numbers = draws.standard_normal(rows) * 10.0 ** draws.integers(-30, 30, rows)
    return {
        "name": np.array(['a "b", c\nd', "é", ""], dtype=object)[np.arange(rows) % 3],
        "number": numbers,
        "count": draws.integers(-(2**62), 2**62, rows),
        "small": draws.integers(0, 255, rows).astype(np.uint8),
        "is": draws.random(rows) < 0.5,
        "size": np.where(draws.random(rows) < 0.5, np.nan, draws.integers(0, 2**50, rows)),
    }


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    blocks = [block(1000), block(7), block(0)]
    write_columns(tmp_path / "a.csv", blocks, whole=("size",))
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        read = list(csv.DictReader(file))
    assert len(read) == 1007
    whole = {name: np.concatenate([each[name] for each in blocks]) for name in blocks[0]}
    for name, column in whole.items():
        texts = [row[name] for row in read]
        if name == "name":
            assert texts == column.tolist()
        elif name == "is":
            assert texts == ["true" if value else "false" for value in column]
        elif name == "size":
            assert texts == ["" if value != value else str(int(value)) for value in column]
        elif name == "number":
            assert [float(text) for text in texts] == column.tolist()
        else:
            assert texts == [str(value) for value in column]


def test_numbers_that_are_none_and_endless(tmp_path: Path) -> None:
    column = {"number": np.array([np.nan, np.inf, -np.inf, 0.1, 3.0])}
    write_columns(tmp_path / "a.csv", [column])
    text = (tmp_path / "a.csv").read_text()
    assert text.splitlines() == ["number", '""', "inf", "-inf", "0.1", "3.0"]


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="different lengths"):
        csv_rows([np.zeros(2), np.zeros(3)], [False, False])
