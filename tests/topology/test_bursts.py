"""A buffer too small for bursts is named in the answer, because the steady state has no bursts."""

from pathlib import Path

import numpy as np
import pytest

import forebay
from forebay.engines.fixed_point.summary import burst_load

LOT = Path(__file__).with_name("parking-lot.toml")


@pytest.mark.parametrize("burst", [1.0, 2.0])
@pytest.mark.parametrize(("load", "buffer"), [(0.5, 10.0), (0.8, 40.0), (0.98, 91.0)])
def test_the_load_is_that_of_the_effective_bandwidth_formula(load, buffer, burst):
    """Appenzeller et al. 2004, section 4: P(Q >= b) = e^(-b 2 (1 - rho) / rho E[X] / E[X^2])."""
    overflow = np.exp(-buffer * 2 * (1 - load) / load * burst / burst**2)
    assert burst_load(np.array([buffer]), overflow, burst) == pytest.approx([load])


def run(*changes: str) -> list[str]:
    return forebay.run(forebay.load(LOT, changes), engine="network").broken_assumptions


def test_small_buffers_are_named_and_large_ones_are_not():
    """In the simulator these links of 91 packets are used to 97 %, in the steady state to 100 %."""
    (note,) = run()
    assert note.startswith("bursts, which the model leaves out, matter at 3 links")
    assert "a buffer of 91" in note
    assert run('queue.size="2 bdp"') == []


def test_a_sizing_says_it_of_the_link_that_it_sized():
    """The simulator needs 16 packets for 95 % here (8 s after 8 s), the steady state one."""
    sized = forebay.load(LOT, ["goals.utilization=0.95"])
    found = forebay.size(sized, "network", link="A->B")
    assert found.buffer.packets == 1
    (note,) = [each for each in found.notes if each.startswith("bursts")]
    assert "matter at A->B: independent bursts of 2 packets overflow a buffer of 1 " in note
    (point,) = [each for each in found.curve if each.packets == 1]
    assert note in point.outcome.broken_assumptions


def test_traffic_without_responses_has_no_such_note():
    idle = ('traffic.0={kind="udp", flows=1, rate="1 Mbit/s"}', 'queue.size="9 packets"')
    assert run(*idle) == []
