"""Columns in CSV files are read back as they were; a file is whole or not there.

What a killed process has begun is removed by the next one.
"""

import csv
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from forebay._core import csv_rows
from forebay.files.atomic import beside, write_text
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


WRITING = """
import sys, time
from pathlib import Path
from forebay.files.atomic import beside
with beside(Path(sys.argv[1])) as part:
    part.write_text("half")
    print("writing", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def writing(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is writing a file, and whose part is some seconds old."""
    line = [sys.executable, "-c", WRITING, str(tmp_path / "a.txt")]
    made = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    assert made.stdout.readline() == "writing\n"
    (part,) = tmp_path.glob(".forebay-*")
    os.utime(part, (0, 0))
    yield made
    made.kill()
    made.wait()
    made.stdout.close()


def test_the_part_of_a_live_process_stays(writing: subprocess.Popen[str], tmp_path: Path) -> None:
    write_text("whole", tmp_path / "b.txt")
    assert len(list(tmp_path.glob(".forebay-*"))) == 1


def test_the_part_of_a_killed_process_goes(writing: subprocess.Popen[str], tmp_path: Path) -> None:
    writing.kill()
    writing.wait()
    write_text("whole", tmp_path / "b.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["b.txt"]


def test_a_part_that_was_just_made_stays(tmp_path: Path) -> None:
    new = tmp_path / ".forebay-x.part"
    new.touch()
    write_text("whole", tmp_path / "b.txt")
    assert new.exists()


def test_a_block_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    write_text("old", tmp_path / "a.txt")
    with pytest.raises(ZeroDivisionError), beside(tmp_path / "a.txt") as part:
        part.write_text("new")
        raise ZeroDivisionError
    assert (tmp_path / "a.txt").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    """As /dev/null must: a root's answer had been put in the place of the device."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text("answer", pipe)
    assert os.read(reader, 100) == b"answer" and pipe.is_fifo()
    os.close(reader)
    assert list(tmp_path.iterdir()) == [pipe]
