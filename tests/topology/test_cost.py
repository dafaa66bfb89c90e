"""What a large network and its sizing take is said before, and refused in one line."""

from pathlib import Path

import numpy as np
import pytest
from tests.topology.build import LOT, network

import forebay
from forebay import networks
from forebay.cli.output import progress
from forebay.engines.footprint import Limit, TooMuchMemory
from forebay.engines.simulation import SimulationEngine
from forebay.progress import enter
from forebay.search.network_links import NetworkLinks
from forebay.topology import make_problem
from forebay.topology.routing import NetworkCost

FAT = "[topology.fat_tree]\nk = 16\n"
ISP = """
max_pairs = 20000
isp = { cores = 20, metros = 60, edges = 600, hosts = 20000 }
classes = [
  { name = "access", rates = ["10 Mbit/s", "1 Gbit/s"] },
  { name = "core" }, { name = "middle" }, { name = "edge" },
]
"""


@pytest.mark.parametrize("topology", [FAT, ISP], ids=["fat-tree", "isp"])
def test_paths_and_cells_are_foreseen_within_a_quarter(topology):
    said: list[NetworkCost] = []
    problem = make_problem(network(topology, 10_000), said.append)
    (cost,) = said
    assert cost.paths == pytest.approx(len(problem.share), rel=0.25)
    cells = problem.paths.size
    assert cells * 0.7 < cost.cells < cells * 2.0
    assert cost.seconds > 0.0


def test_a_look_ahead_over_a_small_network_is_nothing():
    said: list[NetworkCost] = []
    make_problem(network("[topology.fat_tree]\nk = 4\n"), said.append)
    assert said[0].routes_s < said[0].seconds < 0.5


def test_too_many_paths_are_refused_in_one_line_with_how_many_pairs_fit():
    scenario = network(FAT, 10_000)
    with pytest.raises(TooMuchMemory, match=r"max_pairs") as error:
        networks.solve(scenario, memory_limit="300 MB")
    assert "\n" not in str(error.value) and "300 MB" in str(error.value)
    assert error.value.exit_status == 2


@pytest.mark.parametrize(("octets", "pairs"), [(1e9, 2000), (0.0, 1), (1e5, 1)])
def test_the_pairs_that_fit_have_one_digit(octets, pairs):
    cost = NetworkCost(pairs=10_000, paths=160_000.0, cells=1e7, search_s=1.0)
    assert cost.pairs_within(octets) == pairs
    assert cost.octets * pairs / 10_000 <= max(octets, cost.octets / 10_000)


class Shown:
    """A progress that keeps the stages."""

    def __init__(self) -> None:
        self.stages: list[str] = []

    def __call__(self, fraction: float) -> None:
        assert 0.0 <= fraction <= 1.0

    def stage(self, name: str) -> None:
        self.stages.append(name)


def test_every_stage_of_a_solution_is_named():
    shown = Shown()
    networks.solve(network("[topology.fat_tree]\nk = 4\n"), shown)
    parts = list(dict.fromkeys(name.partition(",")[0] for name in shown.stages))
    assert parts[:4] == ["reading", "routes", "equations", "first state"]
    assert any(name.startswith("solve, step 1, residual ") for name in shown.stages)


def test_a_stage_s_time_left_is_its_own(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr("forebay.cli.output.time.monotonic", lambda: now[0])
    with progress("network") as shown:
        enter(shown, "routes")
        now[0] = 100.0
        shown(0.5)
        enter(shown, "solve, step 1, residual 1e-1")
        now[0] = 120.0
        enter(shown, "solve, step 2, residual 1e-2")
        shown(0.5)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "network, routes: 50%, about 2 min left",
        "network, solve, step 2, residual 1e-2: 50%, about 20 s left",
    ]


def test_the_watch_of_memory_passes_stages_on():
    shown = Shown()
    watched = Limit(10**12).watch(shown)
    watched(np.float64(0.5))
    enter(watched, "routes")
    assert shown.stages == ["routes"]


FAST = Path(__file__).parents[2] / "scenarios" / "abilene-fast-edge-small.toml"
FASTER = [
    'measure.warmup="1 s"', 'measure.duration="2 s"', "traffic.0.flows=8000",
    'link.rate="1.5 Gbit/s"', 'queue.size="900 packets"',
]  # fmt: skip
MEASURED = {
    "400 flows": (LOT, "A->B", ['measure.warmup="5 s"', 'measure.duration="15 s"'], 0.69),
    "8,000 flows": (LOT, "A->B", FASTER, 0.97),
    "52,394 flows": (FAST, "Denver->Seattle", ['measure.warmup="0.7 s"'], 499.0),
}
"""CPU seconds of one replication, idle or not: processor time."""


@pytest.mark.parametrize("name", list(MEASURED))
def test_a_replication_is_expected_within_a_factor_of_two_of_its_cpu_time(name):
    path, link, changes, cpu_s = MEASURED[name]
    sized = SimulationEngine().size_links(forebay.load(path, changes), link=link, link_class=None)
    load = NetworkLinks.of(sized).load
    assert cpu_s / 2 < load.replication_s < 2 * cpu_s
