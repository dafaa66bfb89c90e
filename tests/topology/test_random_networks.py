"""Networks that nobody would build: `response-functions` comes to rest in each that is legal."""

import numpy as np
import pytest
from tests.cases import cases

from forebay.engines.fixed_point import NetworkEngine
from forebay.scenario import ScenarioError, loads

RING = """links = [
  { between = ["A", "B"] }, { between = ["B", "C"] },
  { between = ["C", "D"], rate = "5 Mbit/s" }, { between = ["D", "A"] },
]
"""
CHOICES = {
    "rate": ["1 kbit/s", "10 Mbit/s", "1 Gbit/s", "100 Gbit/s", "10 Tbit/s"],
    "delay": ["0 s", "2 us", "1 ms", "20 ms", "1 s"],
    "size": ["1 packets", "20 packets", "1 bdp", "1 bdp/sqrt(n)", "1 ms", "0.01 bdp"],
    "flows": ["1", "7", "100", "5000", "200000"],
    "control": ["reno", "cubic", "scalable", "compound"],
    "tcp": ["", "max_window = 2\n", "max_window = 40\n", "sack = false\n"],
    "udp": ["", "1 kbit/s", "1 Mbit/s"],
    "topology": [RING, "[topology.fat_tree]\nk = 4\n", "isp"],
}
LINK_RATES = ["1 Mbit/s", "100 Mbit/s", "10 Gbit/s"]


def scenario_text(seed: int) -> str:
    random = np.random.default_rng(seed)
    it = {name: values[random.integers(len(values))] for name, values in CHOICES.items()}
    topology = it["topology"]
    if topology == "isp":
        topology = "[topology.isp]\nedges = 12\nmetros = 5\ncores = 4\nhosts = 200\n"
        for name in ("core", "middle", "edge", "access"):
            rate = LINK_RATES[random.integers(len(LINK_RATES))]
            topology += f'[[topology.classes]]\nname = "{name}"\nrate = "{rate}"\n'
    udp = f'[[traffic]]\nkind = "udp"\nflows = 20\nrate = "{it["udp"]}"\n' if it["udp"] else ""
    return (
        f'[link]\nrate = "{it["rate"]}"\ndelay = "{it["delay"]}"\n[queue]\nsize = "{it["size"]}"\n'
        f'[[traffic]]\nflows = {it["flows"]}\ncongestion_control = "{it["control"]}"\n{it["tcp"]}'
        f"{udp}[topology]\n{topology}"
    )


@pytest.mark.parametrize("seed", cases(range(40), lambda seed: seed % 4 == 3))
def test_a_random_network_is_at_rest(seed):
    try:
        solution, _ = NetworkEngine().solution(loads(scenario_text(seed)))
    except ScenarioError as error:
        assert "\n" not in str(error)  # such as "1 ms" of less than a packet
        return
    assert solution.residual < 1e-9 and solution.conservation < 1e-9
    assert np.isfinite(solution.flow.sent_bps).all() and (solution.flow.rtt_s > 0.0).all()
    assert (solution.flow.carried_bps <= solution.balance.rate_bps * (1.0 + 1e-9)).all()
