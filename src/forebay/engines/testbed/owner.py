"""Who made something: a process, told from a later one of the same number by its start time."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_START_TIME = 19  # fields after the name, proc(5): state is the first


class Owner(NamedTuple):
    """A process and when it started, in clock ticks since the machine did, and which boot."""

    pid: int
    started: int
    boot: str

    @classmethod
    def of(cls, pid: int) -> Owner | None:
        """Return the process of that number, or None where there is none alive."""
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        if fields[0] in "ZX":
            return None
        return cls(pid, int(fields[_START_TIME]), _boot())

    @classmethod
    def here(cls) -> Owner:
        """Return this process."""
        found = cls.of(os.getpid())
        assert found is not None
        return found

    @property
    def alive(self) -> bool:
        """Whether it still runs: the same process, not just the same number."""
        return Owner.of(self.pid) == self

    def end(self) -> None:
        """Kill it, if it still runs."""
        if self.alive:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
