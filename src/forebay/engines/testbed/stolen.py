"""What a hypervisor took of the processors while something was played."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

_STATISTICS = Path("/proc/stat")
_TIMES, _STEAL = 8, 7  # proc(5): user nice system idle iowait irq softirq steal, summed over all


def _ticks() -> tuple[int, int]:
    """Return what was taken, and all time, since the machine started."""
    times = [int(word) for word in _STATISTICS.read_text().split("\n")[0].split()[1 : 1 + _TIMES]]
    return times[_STEAL], sum(times)


@dataclass(frozen=True)
class Watch:
    """Watches from when it is made."""

    _begun: tuple[int, int] = field(default_factory=_ticks)

    def share(self) -> float:
        """Return the share of the processors' time taken since; 0 on a machine of its own."""
        taken, passed = (now - then for now, then in zip(_ticks(), self._begun, strict=True))
        return taken / passed if passed > 0 else 0.0
