"""The estimate of memory against the peak of the process, over shapes of every size; the watch."""

import json
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from memory_shapes import SHAPES
from tests.cases import cases

from forebay.engines.footprint import Limit, TooMuchMemory, resident

HERE = Path(__file__).parent
NEAR = 15_000_000
"""Below 30 MB the estimate may be off by so much: modules and the C library decide there."""
LOW, HIGH = 0.7, 1.5
QUICK = (
    "10 flows of reno", "1000 flows of cubic", "1000 flows of bbr",
    "initial window 1000, 200 flows", "1 Gbit/s of bbr, 2000 flows", "red with 100 flows",
    "fq_codel with 10000 flows",
    "a queue of 3000 packets", "30 links", "10 links of fq_codel", "100 links with 100 classes",
    "isp of 1000 hosts", "fat tree of 8", "datagrams at 30 Mbit/s", "video of 10",
    "short flows at load 0.3", "1000 flows without SACK", "few short flows on 10 Gbit/s",
)  # fmt: skip
"""A shape of each kind, which runs with every change; `make long` runs the others."""


@pytest.fixture(scope="module")
def worker() -> Iterator[subprocess.Popen[str]]:
    """Imports once, and measures each shape in a fork."""
    command = [sys.executable, str(HERE / "memory_shapes.py")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        yield process
        process.stdin.close()


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the kernel is not Linux")
@pytest.mark.parametrize("shape", cases(SHAPES, QUICK.__contains__))
def test_the_estimate_is_near_the_peak(shape, worker):
    worker.stdin.write(f"{shape}\n")
    peak, estimate = json.loads(worker.stdout.readline())
    near = peak < 2 * NEAR and abs(estimate - peak) <= NEAR
    assert near or LOW <= estimate / peak <= HIGH, f"{estimate / 1e6:.1f} MB, {peak / 1e6:.1f} seen"


def test_there_are_sixty_shapes():
    assert len(SHAPES) >= 60 and set(QUICK) <= set(SHAPES)


MB = 10**6
BLOCK = 12_000  # float64: 96 kB each, below the size from which glibc maps a block alone


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_the_watch_counts_what_is_in_use_and_not_what_is_freed():
    """Not what the C library keeps for later."""
    most = 2 * (resident() + 40 * MB)
    look = Limit(most).watch(None)
    held = [np.ones(BLOCK) for _ in range(most // (8 * BLOCK))]
    last = held[-1]  # it keeps the heap from shrinking
    with pytest.raises(TooMuchMemory, match="after 50 % of it"):
        look(0.5)
    del held
    assert resident() > most, "the C library has returned it already, so this test says nothing"
    look(0.6)
    assert resident() < most
    assert last[0] == 1.0
