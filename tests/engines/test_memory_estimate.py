"""The estimate of memory against the peak of the process, over shapes of every size."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from memory_shapes import LARGE, SHAPES

HERE = Path(__file__).parent
NEAR = 15_000_000
"""Below 30 MB the estimate may be off by so much: modules and the C library decide there."""
LOW, HIGH = 0.7, 1.5
SLOW = {f"isp of {hosts} hosts" for hosts, *_ in LARGE}


def measured(shape: str) -> tuple[float, float]:
    """Return the growth of the peak and the estimate, in bytes, from a process of its own."""
    done = subprocess.run(
        [sys.executable, str(HERE / "memory_worker.py"), shape],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    peak, estimate = json.loads(done.stdout)
    return peak, estimate


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the kernel is not Linux")
@pytest.mark.parametrize(
    "shape", [pytest.param(each, marks=pytest.mark.long if each in SLOW else ()) for each in SHAPES]
)
def test_the_estimate_is_near_the_peak(shape: str) -> None:
    peak, estimate = measured(shape)
    near = peak < 2 * NEAR and abs(estimate - peak) <= NEAR
    assert near or LOW <= estimate / peak <= HIGH, f"{estimate / 1e6:.1f} MB, {peak / 1e6:.1f} seen"


def test_there_are_sixty_shapes() -> None:
    assert len(SHAPES) >= 60
