"""The first tutorial, letter by letter: its file, its commands, and every line that it shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial" / "first-buffer.md"
NOT_RUN = ("make setup", ". .venv/bin/activate")
"""What the tests stand on already."""


def blocks() -> Iterator[str]:
    """Yield the indented blocks of the page, in order."""
    for match in re.finditer(r"(?:^    .*\n|^\n(?=    ))+", PAGE.read_text(encoding="utf-8"), re.M):
        block = re.sub(r"^    ", "", match[0], flags=re.M).strip("\n")
        yield from block.split("\n\n", 1) if block.startswith("forebay ") else [block]


def plain(text: str) -> str:
    """Return a text without the lines of tables and without what the width of a screen decides."""
    return " ".join(re.sub(r"[─━]+", " ", text).split())


def fragments(shown: str) -> list[str]:
    """Return the parts of a shown output, a line each, that "…" does not leave open."""
    parts = [plain(part) for line in shown.splitlines() for part in re.split("…", line)]
    return [part for part in parts if part]


@pytest.mark.long
def test_every_command_prints_what_the_page_shows(tmp_path: Path) -> None:
    environment = {**os.environ, "COLUMNS": "80"}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    printed, ran, wrong = "", 0, []
    for block in blocks():
        if block.startswith('name = "my uplink"'):
            (tmp_path / "uplink.toml").write_text(block)
        elif block.startswith("forebay "):
            run = subprocess.run(
                ["sh", "-c", block], cwd=tmp_path, env=environment, capture_output=True, text=True,
            )  # fmt: skip
            assert run.returncode in (0, 1, 2), (block, run.stderr)
            printed, ran = plain(f"{run.stdout}\n{run.stderr}"), ran + 1
            for name in shlex.split(block):
                assert not name.endswith(".svg") or (tmp_path / name).exists()
        elif block.splitlines()[0] not in NOT_RUN:
            wrong += [part for part in fragments(block) if part not in printed]
    assert ran > 5
    assert wrong == []
