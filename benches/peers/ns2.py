"""ns-2, which interprets `dumbbell.tcl`."""

from __future__ import annotations

import shutil
from pathlib import Path

from readings import readings

SCRIPT = Path(__file__).with_name("dumbbell.tcl")


def missing() -> str | None:
    """What is not installed, and how to get it; None where all is there."""
    return None if shutil.which("ns") else "no ns (Debian: apt-get install ns2)"


def run(flows: int, limit: int, seed: int) -> dict[str, float]:
    """One run."""
    return readings(["ns", str(SCRIPT), f"n={flows}", f"limit={limit}", f"seed={seed}"])
