"""A study on the workers of a Dask scheduler; only where `forebay[cluster]` is installed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.studies.test_sweep import AXES, SMALL, rows

import forebay
from forebay.studies.errors import StudyError
from forebay.studies.work import Batch, make_batch


def test_a_worker_with_other_code_refuses() -> None:
    from forebay.errors import Words
    from forebay.studies.plan import Asked

    batch = Batch(Asked("run", "simulation", "x"), "other code", (), Words.PYTHON, 1.0)
    with pytest.raises(StudyError, match="another forebay"):
        make_batch(batch)


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("distributed")
    place = tmp_path / "scheduler.json"
    commands = (
        ("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"),
        ("dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard"),
    )
    made = []
    for module, *options in commands:
        command = [sys.executable, "-m", f"distributed.cli.{module}", *options]
        command += ["--scheduler-file", str(place)]
        quiet = subprocess.DEVNULL
        made.append(subprocess.Popen(command, stdout=quiet, stderr=quiet))
    while not place.exists():
        time.sleep(0.1)
    import json

    yield json.loads(place.read_text())["address"]
    for each in reversed(made):
        each.terminate()
        each.wait()


@pytest.mark.filterwarnings("default")
def test_a_cluster_makes_the_same_rows(scheduler: str, tmp_path: Path) -> None:
    there = forebay.sweep(SMALL, AXES, seeds=2, cluster=scheduler)
    assert there.ran == 8
    assert rows(there) == rows(forebay.sweep(SMALL, AXES, seeds=2))


def test_an_address_without_scheduler_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(StudyError) as refused:
        forebay.sweep(SMALL, AXES, seeds=1, cluster="tcp://127.0.0.1:1")
    assert "\n" not in str(refused.value)
