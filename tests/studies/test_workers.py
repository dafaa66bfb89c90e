"""Workers of a study: processes of this machine, whatever they were doing, and a Dask cluster."""

import errno
import json
import os
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.studies.test_sweep import AXES, SMALL, rows

import forebay
from forebay.api.sweep import size_priced
from forebay.store import code_of
from forebay.studies import work
from forebay.studies.errors import StudyError
from forebay.studies.plan import Asked
from forebay.studies.work import Batch, Item, Processes, make_batch


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let two jobs be processes; by default five are."""
    monkeypatch.setattr(work, "MOST_THREADS", 1)


def test_threads_and_processes_make_the_same_rows(request: pytest.FixtureRequest) -> None:
    one, two = (forebay.sweep(SMALL, AXES, seeds=2, jobs=jobs) for jobs in (1, 2))
    request.getfixturevalue("processes")
    apart = forebay.sweep(SMALL, AXES, seeds=2, jobs=2)
    assert rows(one) == rows(two) == rows(apart)


# A thread of the standard library may be starting the next worker while the pool breaks.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_workers_death_costs_its_batch_alone(processes, monkeypatch) -> None:
    killed = []
    submit = Processes.submit

    def submit_and_kill(self, batch):
        made = submit(self, batch)
        if not killed:
            killed.extend(self._pool._processes.values())
            killed[0].kill()
        return made

    monkeypatch.setattr(Processes, "submit", submit_and_kill)
    made = forebay.sweep(SMALL, AXES, seeds=3, jobs=2)
    assert killed and (made.ran, made.stored, made.failed) == (12, 12, 0)


def test_a_dying_pool_that_hands_over_a_closed_pipe_is_opened_anew(processes, monkeypatch):
    submit = ProcessPoolExecutor.submit
    errors = [OSError("closed"), ValueError("bad value(s) in fds_to_keep")]

    def closed_twice(self: ProcessPoolExecutor, *work: Any) -> Any:
        if errors:
            raise errors.pop()
        return submit(self, *work)

    monkeypatch.setattr(ProcessPoolExecutor, "submit", closed_twice)
    made = forebay.sweep(SMALL, AXES, seeds=3, jobs=2)
    assert not errors and (made.ran, made.stored, made.failed) == (12, 12, 0)


def test_a_sizing_stops_at_its_next_report() -> None:
    """A sizing of a sweep may take minutes, and nobody waits for it after Ctrl-C."""
    calls = []

    def stop(done: float) -> None:
        calls.append(done)
        if len(calls) > 3:
            raise KeyboardInterrupt

    asked = Asked("size", "simulation", "any", None, 30.0)
    code = code_of("simulation")
    wanted = SMALL.replace({"goals.utilization": 0.9})
    batch = Batch(asked, code, (Item(wanted, (1,)),), 30.0, size_priced)
    with pytest.raises(KeyboardInterrupt):
        make_batch(batch, stop)
    assert len(calls) == 4


@pytest.fixture
def pool():
    made = Processes(1)
    made._pool.submit(os.getpid).result()
    return made


def test_a_half_written_result_holds_nobody_up(pool):
    """A worker that is killed within a write leaves the length of a message, and a part of it."""
    results: Any = pool._pool._result_queue
    os.write(results._writer.fileno(), struct.pack("!i", 1000) + b"a part")
    ending = threading.Thread(target=pool.stop, daemon=True)
    ending.start()
    ending.join(timeout=20)
    assert not ending.is_alive()


def test_they_may_be_ended_after_they_were_closed(pool):
    pool.close()
    pool.stop()


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (OSError("handle is closed"), BrokenExecutor),
        (OSError(errno.EAGAIN, "no more pool"), BlockingIOError),
    ],
)
def test_a_pool_that_dies_is_told_from_a_machine_that_is_full(pool, monkeypatch, error, seen):
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(pool._pool, "submit", fail)
    with pytest.raises(seen, match=error.args[-1]):
        pool.submit(None)
    pool.stop()


def test_a_worker_with_other_code_refuses() -> None:
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
