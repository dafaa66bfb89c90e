"""What a peer prints: one line of key=value."""

from __future__ import annotations

import subprocess


def readings(command: list[str]) -> dict[str, float]:
    """Run a peer; its readings by name."""
    line = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return {key: float(value) for key, value in (pair.split("=") for pair in line)}
