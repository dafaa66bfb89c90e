"""The command line in a folder whose distributions it finds, in this process."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from forebay import plugins
from forebay.cli.program import call
from forebay.laws import registry
from forebay.store import code_of

Command = Callable[..., "CompletedProcess[str]"]


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
