"""What a replication of a network is expected to take, beside what it took on one machine."""

from pathlib import Path

import pytest

import forebay
from forebay.engines.simulation import SimulationEngine
from forebay.search.network_links import NetworkLinks

LOT = Path(__file__).with_name("parking-lot.toml")
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
