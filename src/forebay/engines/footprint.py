"""The limit of a run's memory: its estimate is held against it, and its process while it runs."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.errors import ForebayError, argument
from forebay.progress import with_stages
from forebay.scenario import DataSize

if TYPE_CHECKING:
    from forebay.engines.memory_estimate import MemoryEstimate
    from forebay.progress import Progress

_DEFAULT = 2 * 10**9
"""Enough for tens of thousands of flows; half of the memory of machines with less than 4 GB."""
_CGROUP = Path("/sys/fs/cgroup/memory.max")


class Limit:
    """A memory limit in bytes, for the estimate of a run and for its process."""

    def __init__(self, octets: int | None = None) -> None:
        self.octets = default_limit() if octets is None else octets
        self._most: int | None = None

    def check(self, estimated: MemoryEstimate, seeds: int) -> None:
        """Refuse a run whose estimate is larger even with one replication at a time.

        Raises
        ------
        TooMuchMemory
            With the number.
        """
        least = estimated.least(seeds)
        if least > self.octets:
            many = f"{seeds} replications take" if seeds > 1 else "the run takes"
            about, limit = _three_digits(least), _as_written(self.octets)
            wrong = f"{many} about {about}, above the limit of {limit}"
            raise TooMuchMemory(wrong)

    def check_octets(self, octets: float, smaller: str) -> None:
        """Refuse more bytes than the limit; ``smaller`` is the hint. Raises TooMuchMemory."""
        if octets > self.octets:
            about, limit = _three_digits(octets), _as_written(self.octets)
            wrong = f"the run takes about {about}, above the limit of {limit}"
            raise TooMuchMemory(wrong, smaller)

    def side_by_side(
        self, estimated: MemoryEstimate, seeds: int, jobs: int, held_bytes: float = 0.0
    ) -> tuple[int, int]:
        """Return how many replications fit on threads at once, and how many may be drawn ahead.

        ``held_bytes`` are those of earlier runs, which are kept.
        """
        free = self.octets - held_bytes - seeds * estimated.reading - estimated.drawing
        threads = max(1, min(jobs, int(free / max(estimated.drawn + estimated.running, 1))))
        room = free - threads * estimated.running
        return threads, max(threads, int(min(room / max(estimated.drawn, 1), seeds)))

    def look(self, when: str = " before it began") -> None:
        """Stop a run whose process has exceeded the limit. Raises TooMuchMemory."""
        most = self.octets if self._most is None else self._most
        held = resident()
        if held > most:
            give_back()
            held = resident()
        if held > most:
            taken, limit = _three_digits(held), _as_written(self.octets)
            raise TooMuchMemory(f"the run has taken {taken}{when}, above the limit of {limit}")

    def watch(self, progress: Progress | None) -> Progress:
        """Return a progress callback that stops the run when the process exceeds the limit.

        Memory that the process had before counts too, but at most for half of the limit; what
        it has freed does not count.
        """
        self._most = max(self.octets, resident() + self.octets // 2)

        def look(done: float) -> None:
            self.look(f" after {done:.0%} of it")
            if progress is not None:
                progress(done)

        return with_stages(look, progress)


def default_limit() -> int:
    """Return 2 GB, or half of the machine's memory if that is less."""
    return min(_DEFAULT, _machine() // 2)


def resident() -> int:
    """Return the resident bytes of this process, or its peak if only that is known."""
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


def give_back() -> None:
    """Return what was freed to the system; glibc keeps it between blocks that are in use."""
    import ctypes

    with suppress(AttributeError, OSError, TypeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)


def _machine() -> int:
    """Return the machine's memory, or its container's limit."""
    try:
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        found = 2 * _DEFAULT
    try:
        return min(found, int(_CGROUP.read_text()))
    except (OSError, ValueError):  # no such file, or "max"
        return found


class TooMuchMemory(ForebayError):
    """A run needs more memory than its limit.

    Attributes
    ----------
    wrong, hint : str
        The amount and the limit, and what to write instead.
    """

    code = "too-much-memory"

    def __init__(self, wrong: str, smaller: str = "a smaller scenario, fewer seeds") -> None:
        self.wrong, self.smaller = wrong, smaller
        self.hint = f"write {smaller}, or a larger {argument('memory_limit')}"
        super().__init__(f"memory: {wrong}; {self.hint}")


def _three_digits(octets: float) -> str:
    """Return a number of bytes in the command line's notation, with three digits."""
    unit, power = ("GB", 9) if octets >= 1e9 else ("MB", 6)
    return f"{octets / 10**power:.3g} {unit}"


def _as_written(octets: int) -> str:
    """Return a limit in the notation of the user."""
    return str(DataSize(octets))
