"""The watch of a run's memory counts what is in use, not what the C library keeps for later."""

import platform

import numpy as np
import pytest

from forebay.engines.footprint import Limit, TooMuchMemory, resident

MB = 10**6
BLOCK = 12_000  # float64: 96 kB each, below the size from which glibc maps a block alone

glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")


def blocks(megabytes: int) -> list[np.ndarray]:
    return [np.ones(BLOCK) for _ in range(megabytes * MB // (8 * BLOCK))]


@glibc
def test_freed_memory_does_not_count():
    most = 2 * (resident() + 40 * MB)
    look = Limit(most).watch(None)
    held = blocks(most // MB)
    last = held[-1]  # it keeps the heap from shrinking
    with pytest.raises(TooMuchMemory, match="after 50% of it"):
        look(0.5)
    del held
    assert resident() > most, "the C library has returned it already, so this test says nothing"
    look(0.6)
    assert resident() < most
    assert last[0] == 1.0
