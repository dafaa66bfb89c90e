"""The owner of a record: a process, identified by its PID and its start time."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_START_TIME = 19  # index of the field after the name, proc(5); state is 0


class Owner(NamedTuple):
    """A process, its start time in clock ticks since boot, and the ID of the boot."""

    pid: int
    started: int
    boot: str

    @classmethod
    def of(cls, pid: int) -> Owner | None:
        """Return the live process with this PID, or None."""
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
        """Whether this process still runs. Another process with the same PID does not count."""
        return Owner.of(self.pid) == self

    def end(self) -> None:
        """Kill it, if it still runs."""
        if self.alive:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
