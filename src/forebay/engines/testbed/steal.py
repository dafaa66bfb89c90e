"""CPU steal: the time that a hypervisor took from the cores during a run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

_STATISTICS = Path("/proc/stat")
_TIMES, _STEAL = 8, 7  # proc(5): user nice system idle iowait irq softirq steal, a line a core
_CORE = re.compile(r"cpu\d+ ")


def _ticks() -> dict[str, tuple[int, int]]:
    """Return stolen time and total time of each core since boot, in ticks."""
    counted = {}
    for line in filter(_CORE.match, _STATISTICS.read_text().split("\n")):
        core, *words = line.split()[: 1 + _TIMES]
        times = [int(word) for word in words]
        counted[core] = (times[_STEAL], sum(times))
    return counted


@dataclass(frozen=True)
class StealMonitor:
    """Measures steal from its creation on."""

    _begun: dict[str, tuple[int, int]] = field(default_factory=_ticks)

    def share(self) -> float:
        """Return the largest steal share of a core since creation; 0 without a hypervisor.

        The router runs on one core at a time, so the mean over all cores is less informative.
        """
        shares = [0.0]
        for name, now in _ticks().items():
            taken, passed = (a - b for a, b in zip(now, self._begun.get(name, now), strict=True))
            shares.append(taken / passed if passed > 0 else 0.0)
        return max(shares)
