"""Patches that add one thing, as a contributor would, and a copy of the tree to apply them to.

A place is a hunk in an existing file, or a new file. Generated files are no places, since no patch
has them: a command writes them. The thing's own test is no place either.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_PARTS = ("src", "crates", "docs", "tests", "benches", "fuzz", "scenarios", "generate")
_FILES = ("pyproject.toml", "Cargo.toml", "Cargo.lock", "CONTRIBUTING.md", "README.md")
_LEFT_OUT = shutil.ignore_patterns("*.so", "corpus", "images", "target")


@dataclass(frozen=True)
class Place:
    """One place of a patch: ``head`` are the lines that name its file, ``body`` is the change."""

    path: str
    head: str
    body: str

    @property
    def is_its_test(self) -> bool:
        """Whether it belongs to the test of the thing that is added."""
        return self.path.startswith("tests/")

    def __str__(self) -> str:
        added = (line[1:].strip() for line in self.body.splitlines() if line.startswith("+"))
        return f"{self.path}: {next((line for line in added if line), '')}"


def places_of(name: str) -> list[Place]:
    """Return the places of tests/changes/<name>/change.patch, in their order."""
    text = (ROOT / "tests/changes" / name / "change.patch").read_text(encoding="utf-8")
    found = []
    for part in re.split(r"^(?=diff --git )", text, flags=re.MULTILINE)[1:]:
        head, *bodies = re.split(r"^(?=@@ )", part, flags=re.MULTILINE)
        path = re.search(r"^\+\+\+ b/(.*)$", head, re.MULTILINE)
        assert path is not None
        found += [Place(path[1], head, body) for body in bodies]
    return found


@dataclass(frozen=True)
class Copy:
    """A copy of the tree at ``root``, with the core of this one."""

    root: Path

    @classmethod
    def at(cls, root: Path) -> Copy:
        """Copy what the checks need."""
        for name in _PARTS:
            shutil.copytree(ROOT / name, root / name, ignore=_LEFT_OUT, symlinks=True)
        for name in _FILES:
            shutil.copy(ROOT / name, root)
        for core in (ROOT / "src/forebay").glob("_core*.so"):
            (root / "src/forebay" / core.name).symlink_to(core)
        return cls(root)

    def apply(self, places: Sequence[Place], *options: str) -> None:
        """Apply places; lines around them may have changed since the patch was written."""
        heads = dict.fromkeys(place.head for place in places)
        text = "".join(
            head + "".join(place.body for place in places if place.head == head) for head in heads
        )
        command = ["git", "apply", "-C1", "--recount", "--whitespace=nowarn", *options, "-"]
        done = subprocess.run(
            command, cwd=self.root, input=text, text=True, capture_output=True, check=False,
            env=os.environ | {"GIT_CEILING_DIRECTORIES": str(self.root.parent)},
        )  # fmt: skip
        assert done.returncode == 0, f"write the patch anew: {done.stderr}"

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the copy; "python" is this interpreter, with the copy's package."""
        program = [sys.executable if command[0] == "python" else command[0], *command[1:]]
        paths = {"PYTHONPATH": str(self.root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(
            program, cwd=self.root, env=os.environ | paths | environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
