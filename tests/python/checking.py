"""mypy --strict as a user runs it: without the project's settings and plugins."""

import subprocess
import sys
from pathlib import Path

CACHE = Path(__file__).parents[2] / "build" / "mypy-strict"
"""Shared by all tests: what a user's file imports is checked once."""


def mypy(path: Path) -> list[str]:
    """Return what mypy finds wrong with a file, a line each: "12: error: …"."""
    settings = path.with_name("empty.ini")
    settings.write_text("[mypy]\n")
    command = [
        sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context",
    ]  # fmt: skip
    where = ["--config-file", str(settings), "--cache-dir", str(CACHE), str(path)]
    done = subprocess.run([*command, *where], capture_output=True, text=True, cwd=path.parent)
    assert done.returncode in (0, 1), done.stderr
    lines = (line.partition(":")[2] for line in done.stdout.splitlines())
    return [line for line in lines if ": error: " in line]
