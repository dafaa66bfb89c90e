"""A file is whole or not there; what a killed process has begun is removed by the next one."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from forebay.files.atomic import beside, write_text

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
