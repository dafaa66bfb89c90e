"""A link whose utilization is known for every buffer, behind the engine protocol.

The command line is tested against it: what the real engines say is tested in their rooms.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.outcomes import around, class_of, link_of, outcome_of

import forebay.engines
from forebay.cli.program import call
from forebay.effort import DEFAULT, Effort
from forebay.engines.base import Capabilities, ReplicatingEngine, Replication
from forebay.outcome import Outcome, Reading

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "oc3-gsr.toml"


class KnownLink(ReplicatingEngine):
    """Utilization 1 - 2/(100 + buffer): 98 % needs no buffer, 99 % needs 100 packets."""

    name = "simulation"
    capabilities = Capabilities()

    def __init__(self) -> None:
        self.seeds: list[int] = []
        self.stop_after: int | None = None

    def replications(
        self, scenario: Any, seeds: Sequence[int], effort: Effort = DEFAULT
    ) -> dict[int, Replication]:
        if self.stop_after is not None:
            self.stop_after -= 1
            if self.stop_after < 0:
                raise KeyboardInterrupt
        self.seeds = list(seeds)
        effort.tell(1.0)
        return {seed: Replication(Reading(seed, {}, [], 0, 0.0), {}) for seed in seeds}

    def outcome(self, scenario: Any, replications: Sequence[Replication], wall_s: float) -> Outcome:
        used = 1 - 2 / (100 + scenario.buffer_packets)
        link = link_of(
            utilization=around(used, n=len(replications)),
            buffer_packets=scenario.buffer_packets, bdp_packets=scenario.bdp_packets,
        )  # fmt: skip
        classes = (class_of(kind=group.kind, flows=group.flows) for group in scenario.traffic)
        seeds = tuple(each.reading.seed for each in replications)
        asked = scenario.to_dict()
        return outcome_of(link, *classes, seeds=seeds, scenario=asked, engine="simulation")


@pytest.fixture
def link(monkeypatch: pytest.MonkeyPatch) -> KnownLink:
    """Stand in for the engine `simulation` on a machine without other work."""
    monkeypatch.setattr("forebay.search.cost.slowdown", lambda clock: 1.0)
    known, real = KnownLink(), forebay.engines.get
    monkeypatch.setattr(
        forebay.engines, "get", lambda name: known if name == "simulation" else real(name)
    )
    return known


@pytest.fixture
def scenario() -> str:
    return str(SCENARIO)


class Result(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def forebay_(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Call the command line in this process; returns status, stdout, stderr."""
    return lambda *arguments: Result(call(arguments), *capsys.readouterr())
