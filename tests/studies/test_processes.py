"""Processes of this machine end whatever they were doing."""

from __future__ import annotations

import os
import struct
import threading
from typing import Any

import pytest

from forebay.studies.workers import Processes


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
