"""The most that a run may take, and the look at what it has taken."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.footprint.errors import TooMuchMemory, as_size, shown
from forebay.footprint.estimate import Estimate

if TYPE_CHECKING:
    from forebay.progress import Progress

_DEFAULT = 2 * 10**9
"""Enough for ten thousands of flows; on a machine of less than twice this, half of what it has."""
_CGROUP = Path("/sys/fs/cgroup/memory.max")


class Limit:
    """So many bytes: of what a run is estimated to take, and of what its process then holds."""

    def __init__(self, octets: int | None = None) -> None:
        self.octets = default_limit() if octets is None else octets

    def check(self, estimated: Estimate, seeds: int) -> None:
        """Refuse a run that is estimated to take more even with one replication at a time.

        Raises
        ------
        TooMuchMemory
            With the number.
        """
        least = estimated.least(seeds)
        if least > self.octets:
            many = f"{seeds} replications take" if seeds > 1 else "the run takes"
            wrong = f"{many} about {shown(least)}, above the limit of {as_size(self.octets)}"
            raise TooMuchMemory(wrong)

    def side_by_side(self, estimated: Estimate, seeds: int, jobs: int) -> tuple[int, int]:
        """Return how many replications fit on threads at once, and how many drawn beforehand."""
        free = self.octets - seeds * estimated.reading - estimated.drawing
        threads = max(1, min(jobs, int(free / max(estimated.drawn + estimated.running, 1))))
        room = free - threads * estimated.running
        return threads, max(threads, int(min(room / max(estimated.drawn, 1), seeds)))

    def watch(self, progress: Progress | None) -> Progress:
        """Return a progress callback that stops the run once the process holds too much.

        What it held before counts too, but never for more than half of the limit.
        """
        most = max(self.octets, resident() + self.octets // 2)

        def look(done: float) -> None:
            held = resident()
            if held > most:
                wrong = f"the run has taken {shown(held)} after {done:.0%} of it, above the limit"
                raise TooMuchMemory(f"{wrong} of {as_size(self.octets)}")
            if progress is not None:
                progress(done)

        return look


def default_limit() -> int:
    """Return 2 GB, or half of the machine's memory where that is less."""
    return min(_DEFAULT, _machine() // 2)


def resident() -> int:
    """Return the bytes that this process holds now; at its most, where only that is known."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def _machine() -> int:
    """Return the machine's memory, or its share of it in a container."""
    try:
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        found = 2 * _DEFAULT
    try:
        return min(found, int(_CGROUP.read_text()))
    except (OSError, ValueError):  # there is none, or it says "max"
        return found
