"""ns-3, for which `dumbbell.cc` is compiled once into build/peers."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from readings import readings

SOURCE = Path(__file__).with_name("dumbbell.cc")
BUILD = Path(__file__).parents[2] / "build" / "peers"
COMPILER = ("g++", "-std=c++17", "-O3")
MODULES = ("applications", "internet", "point-to-point", "network", "core")
LIBRARIES = tuple(f"-lns3-{module}" for module in MODULES)
DEBIAN = "Debian: apt-get install --no-install-recommends libns3-dev g++"


def missing() -> str | None:
    """What is not installed, and how to get it; None where the program is there or now compiled."""
    if _program().exists():
        return None
    if not shutil.which(COMPILER[0]):
        return f"no {COMPILER[0]} ({DEBIAN})"
    complaint = _compile()
    return complaint and f"{complaint} ({DEBIAN})"


def _program() -> Path:
    """Where this source with these flags goes: another source is another file."""
    flags = " ".join((*COMPILER, *LIBRARIES)).encode()
    return BUILD / f"dumbbell-{hashlib.sha256(SOURCE.read_bytes() + flags).hexdigest()[:16]}"


def _compile() -> str | None:
    """Make the program; None, or the compiler's first line of complaint."""
    BUILD.mkdir(parents=True, exist_ok=True)
    unfinished = _program().with_suffix(".part")
    command = [*COMPILER, str(SOURCE), "-o", str(unfinished), *LIBRARIES]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        lines = result.stderr.splitlines()
        return next((line for line in lines if "error" in line), "it does not compile")
    unfinished.rename(_program())
    return None


def run(flows: int, limit: int, seed: int) -> dict[str, float]:
    """One run."""
    return readings([str(_program()), f"--n={flows}", f"--limit={limit}", f"--seed={seed}"])
