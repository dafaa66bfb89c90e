"""Processes of this machine end whatever they were doing."""

from __future__ import annotations

import errno
import os
import struct
import threading
from concurrent.futures import BrokenExecutor
from typing import Any

import pytest

from forebay.studies.work import Processes


@pytest.fixture
def processes() -> Processes:
    made = Processes(1)
    made._pool.submit(os.getpid).result()
    return made


def test_a_half_written_result_holds_nobody_up(processes: Processes) -> None:
    """A worker that is killed within a write leaves the length of a message, and a part of it."""
    results: Any = processes._pool._result_queue
    os.write(results._writer.fileno(), struct.pack("!i", 1000) + b"a part")
    ending = threading.Thread(target=processes.stop, daemon=True)
    ending.start()
    ending.join(timeout=20)
    assert not ending.is_alive()


def test_they_may_be_ended_after_they_were_closed(processes: Processes) -> None:
    processes.close()
    processes.stop()


def test_a_pool_that_dies_while_it_begins_a_process_is_a_dead_pool(processes, monkeypatch) -> None:
    def closed(*_: object) -> None:
        raise OSError("handle is closed")

    monkeypatch.setattr(processes._pool, "submit", closed)
    with pytest.raises(BrokenExecutor, match="handle is closed"):
        processes.submit(None)
    processes.stop()


def test_a_machine_that_can_begin_no_process_is_no_dead_pool(processes, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.EAGAIN, "no more processes")

    monkeypatch.setattr(processes._pool, "submit", full)
    with pytest.raises(BlockingIOError):
        processes.submit(None)
    processes.stop()
