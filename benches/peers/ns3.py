"""ns-3, for which `dumbbell.cc` is compiled once into build/."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from functools import cache
from pathlib import Path

from readings import readings

SOURCE = Path(__file__).with_name("dumbbell.cc")
BUILD = Path(__file__).parents[2] / "build" / "peers"
COMPILE = ("g++", "-std=c++17", "-O3")
MODULES = ("applications", "internet", "point-to-point", "network", "core")
LIBRARIES = tuple(f"-lns3-{module}" for module in MODULES)


def missing() -> str | None:
    """What is not installed, and how to get it; None where all is there."""
    if not shutil.which("g++"):
        return "no g++ (Debian: apt-get install g++)"
    if not _preprocesses():
        return "no headers (Debian: apt-get install --no-install-recommends libns3-dev)"
    return None


def _preprocesses() -> bool:
    """Whether the compiler finds ns-3's headers, wherever they are."""
    command = [*COMPILE[:2], "-M", str(SOURCE)]
    return subprocess.run(command, capture_output=True).returncode == 0


@cache
def _program() -> Path:
    """The program, compiled unless this source with these flags already was."""
    flags = " ".join((*COMPILE, *LIBRARIES)).encode()
    program = BUILD / f"dumbbell-{hashlib.sha256(SOURCE.read_bytes() + flags).hexdigest()[:16]}"
    if not program.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        unfinished = program.with_suffix(".part")
        command = [*COMPILE, str(SOURCE), "-o", str(unfinished), *LIBRARIES]
        subprocess.run(command, check=True)
        unfinished.rename(program)
    return program


def run(flows: int, limit: int, seed: int) -> dict[str, float]:
    """One run."""
    return readings([str(_program()), f"--n={flows}", f"--limit={limit}", f"--seed={seed}"])
