"""The command line in a folder whose distributions it finds, in this process."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from forebay import plugins
from forebay.cli.program import call
from forebay.laws import registry
from forebay.store import code_of

Command = Callable[..., "CompletedProcess[str]"]


def declare(site: Path, dist: str, text: str) -> None:
    """Put a distribution with these entry points into a folder."""
    info = site / f"{dist}-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(text)


@pytest.fixture
def forebay_(site, monkeypatch, capsys):
    """Call the command line with the distributions of the folder, read anew each time."""
    monkeypatch.chdir(site)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # files change within a second
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(registry, "_HUNG", set())

    def run(*words: str) -> CompletedProcess[str]:
        for kept in (plugins.found, code_of):
            kept.cache_clear()
        importlib.invalidate_caches()
        for source in site.glob("*.py"):
            sys.modules.pop(source.stem, None)
        status = call(words)
        return CompletedProcess(words, status, *capsys.readouterr())

    yield run
    for kept in (plugins.found, code_of):
        kept.cache_clear()
