"""The testbed with an emulator without traffic, and the reason if a machine has no testbed."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios import scenario

from forebay.engines import EngineUnavailable
from forebay.engines.testbed import machine, one_run
from forebay.engines.testbed.endpoint import Endpoint
from forebay.engines.testbed.errors import GateFailed
from forebay.engines.testbed.plan import NamespacePair
from forebay.scenario import Scenario

FAKE = Path(__file__).with_name("fake_emulator.py")
STEAL_LIMIT = 0.01
"""Share of a core's time. The gate lets 1 % of the deliveries be late: a thief who takes less time
than that, of any core, has not made them late."""


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Iterator[Any]:
    """A run that the gate refuses while others use the processors says nothing."""
    try:
        return (yield)
    except GateFailed as refused:
        if refused.steal < STEAL_LIMIT and not refused.stalled:
            raise
        pytest.skip(str(refused))


@pytest.fixture
def small() -> Scenario:
    start = {"uniform": ["0 s", "200 ms"]}
    return scenario({"name": "Small", "traffic.0.rtt": "40 ms", "traffic.0.start": start})


@pytest.fixture
def own_records(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FOREBAY_RUNTIME_DIR", str(tmp_path / "run"))


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Play with a fake emulator and without namespaces: no root needed. Returns a setter."""
    program = tmp_path / "emulator"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("FOREBAY_EMULATOR", str(program))
    monkeypatch.setenv("FOREBAY_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setattr(machine, "check", lambda: None)
    monkeypatch.setattr(one_run, "pair_for", _no_bed)

    monkeypatch.setenv("FAKE", "well")
    return partial(monkeypatch.setenv, "FAKE")


@contextmanager
def _no_bed(asked: Scenario, workload: Any, record: Any) -> Iterator[NamespacePair]:
    left, right = (Endpoint(name, None, None, 1500, True) for name in ("a", "b"))  # type: ignore[arg-type]
    yield NamespacePair(left, right, {"net.ipv4.tcp_sack": "1"})


@pytest.fixture
def real() -> None:
    """Skip where the machine cannot play, and say why."""
    try:
        machine.check()
    except EngineUnavailable as error:
        pytest.skip(str(error))
