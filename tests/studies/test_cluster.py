"""A study on the workers of a Dask scheduler; only where `forebay[cluster]` is installed."""

from __future__ import annotations

import json
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
    from forebay.studies.plan import Asked

    batch = Batch(Asked("run", "simulation", "x"), "other code", (), 1.0)
    with pytest.raises(StudyError, match="another forebay"):
        make_batch(batch)


MANIFEST = Path(__file__).parents[2] / "docs" / "how-to" / "cluster-kubernetes.yaml"


def started(place: Path, module: str, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", f"distributed.cli.{module}", *options]
    command += ["--scheduler-file", str(place)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture
def lonely(tmp_path: Path) -> Iterator[Path]:
    """A scheduler without workers: the file with its address."""
    pytest.importorskip("distributed")
    place = tmp_path / "scheduler.json"
    made = started(place, "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    while not place.exists():
        time.sleep(0.1)
    yield place
    made.terminate()
    made.wait()


def address(place: Path) -> str:
    return str(json.loads(place.read_text())["address"])


@pytest.fixture
def worker(lonely: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A worker that the scheduler knows."""
    from distributed import Client

    made = started(lonely, "dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard")
    with Client(address(lonely), set_as_default=False) as client:
        client.wait_for_workers(1, timeout=60)
    yield made
    made.kill()
    made.wait()


@pytest.fixture
def scheduler(lonely: Path, worker: subprocess.Popen[bytes]) -> str:
    """The address of a scheduler with one worker."""
    return address(lonely)


@pytest.mark.long
@pytest.mark.filterwarnings("default")
def test_a_scheduler_without_workers_is_said_soon_and_ends_the_study(lonely: Path) -> None:
    import distributed

    assert distributed is not None  # its import is no part of the wait
    said: list[str] = []
    with pytest.raises(StudyError, match=r"has had no worker.*dask worker tcp") as refused:
        forebay.sweep(
            SMALL, AXES, seeds=1, cluster=address(lonely), wait="8 s", announce=said.append
        )
    assert "\n" not in str(refused.value)
    (line,) = said
    assert "waiting up to 8 s" in line and "dask worker" in line


@pytest.mark.long
@pytest.mark.filterwarnings("default")
def test_a_cluster_whose_workers_leave_keeps_what_is_stored(scheduler, worker, tmp_path):
    store = tmp_path / "kept.sqlite"
    axes = {**AXES, "measure.duration": ["20 s", "21 s", "22 s", "23 s"]}

    def planned() -> forebay.Sweep:
        return forebay.sweep(SMALL, axes, seeds=20, store=store, only_plan=True)

    def leave(_: float) -> None:
        if worker.poll() is None and store.exists() and planned().stored:
            worker.kill()

    with pytest.raises(StudyError, match="has had no worker"):
        forebay.sweep(
            SMALL, axes, seeds=20, store=store, cluster=scheduler, wait="3 s", progress=leave
        )
    assert 0 < planned().stored < planned().runs


@pytest.mark.long
def test_the_manifest_s_commands_have_options_that_dask_has() -> None:
    pytest.importorskip("distributed")
    yaml = pytest.importorskip("yaml")
    parts = [each for each in yaml.safe_load_all(MANIFEST.read_text()) if each["kind"] != "Service"]
    for each in parts:
        (container,) = each["spec"]["template"]["spec"]["containers"]
        program, name, *options = container["args"]
        assert program == "dask"
        module = f"distributed.cli.dask_{name}"
        asked = [sys.executable, "-m", module, "--help"]
        known = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
        for option in options:
            if option.startswith("--"):
                assert option.partition("=")[0].replace("--no-dashboard", "--dashboard") in known


@pytest.mark.filterwarnings("default")
def test_a_cluster_makes_the_same_rows(scheduler: str, tmp_path: Path) -> None:
    there = forebay.sweep(SMALL, AXES, seeds=2, cluster=scheduler)
    assert there.ran == 8
    assert rows(there) == rows(forebay.sweep(SMALL, AXES, seeds=2))


def test_an_address_without_scheduler_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(StudyError) as refused:
        forebay.sweep(SMALL, AXES, seeds=1, cluster="tcp://127.0.0.1:1")
    assert "\n" not in str(refused.value)
