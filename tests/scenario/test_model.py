"""What a scenario means: defaults, derived quantities, equality and its hash."""

import pickle
from pathlib import Path

import pytest
import tomli_w
from hypothesis import HealthCheck, given, settings
from tests.cases import examples

from forebay.scenario import Rate, Scenario, ScenarioError, dumps, load, loads

from .build import SMALLEST, trees

OC3 = Path(__file__).parents[2] / "scenarios" / "oc3-gsr.toml"


def test_the_shipped_link_is_figure_15_s() -> None:
    """Appenzeller et al. 2004, Figure 15: BDP 1291 packets, 129 of them at n = 100."""
    scenario = load(OC3)
    assert scenario.link.rate == 155e6
    assert scenario.mean_rtt == pytest.approx(0.1)
    assert scenario.bdp_packets == pytest.approx(1291.67, abs=0.01)
    assert scenario.buffer_packets == 129
    assert scenario.goals.utilization == 0.98


@pytest.mark.parametrize(
    ("flows", "multiple", "packets"),
    [
        *[(100, 0.5, 64), (100, 1, 129), (100, 2, 258), (100, 3, 387)],
        *[(200, 0.5, 46), (200, 1, 91), (200, 2, 182), (200, 3, 273)],
        *[(300, 0.5, 37), (300, 1, 74), (300, 2, 148), (300, 3, 222)],
        *[(400, 0.5, 32), (400, 1, 64), (400, 2, 128), (400, 3, 192)],
    ],
)
def test_all_sizes_of_figure_15(flows: int, multiple: float, packets: int) -> None:
    """The paper rounds 1x first and multiplies after; ours differs by 2 packets at most."""
    sets = (f"queue.size={multiple} bdp/sqrt(n)", f"traffic.0.flows={flows}")
    assert loads(SMALLEST, overrides=sets).buffer_packets == pytest.approx(packets, abs=2)


@pytest.mark.parametrize(
    ("size", "packets"),
    [
        ("129 packets", 129),
        ("1.5 MB", 1000),
        ("64 KiB", 43),  # 43.69 packets: the last would not fit
        ("10 ms", 129),  # 129.17
        ("200 us", 3),  # 2.58: to the nearest
        ("1 bdp", 1292),
        ("0.5 bdp", 646),
        ("1 bdp/sqrt(n)", 129),
        ("0.5 bdp / sqrt(n)", 65),
    ],
)
def test_sizes_resolve_to_packets(size: str, packets: int) -> None:
    scenario = loads(SMALLEST, overrides=[f"queue.size={size}"])
    assert scenario.buffer_packets == packets
    assert str(scenario.queue.size) == size


def test_defaults() -> None:
    scenario = loads(SMALLEST)
    traffic = scenario.traffic[0]
    assert (scenario.queue.discipline, str(scenario.queue.size)) == ("drop-tail", "1 bdp")
    assert (traffic.kind, traffic.sender, traffic.congestion_control) == ("long", "linux", "reno")
    assert (traffic.rtt.mean, traffic.packet, traffic.access_rate) == (0.1, 1500, None)
    assert traffic.access(155e6) == 1.55e9
    assert (scenario.measure.warmup, scenario.measure.duration) == (20, 40)
    assert scenario.goals.utilization is None


def test_means_are_weighted_by_flows() -> None:
    second = '[[traffic]]\nflows = 300\nrtt = "20 ms"\npacket = "500 B"\n'
    scenario = loads(SMALLEST + second)
    assert scenario.n_flows == 400
    assert scenario.mean_rtt == pytest.approx((0.1 + 3 * 0.02) / 4)
    assert scenario.packet == 750


@given(trees)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_written_and_read_back_is_equal(tree: dict[str, object]) -> None:
    scenario = loads(tomli_w.dumps(tree))
    again = loads(dumps(scenario))
    assert again == scenario
    assert again.sha256() == scenario.sha256()
    assert again.to_dict() == scenario.to_dict()


def test_hash_is_of_the_meaning() -> None:
    base = loads(SMALLEST)
    same = '# a remark\n[[traffic]]\nflows = 1_00\nrtt="0.1 s"\n[link]\nrate = "0.155 Gbit/s"\n'
    assert loads(same).sha256() == base.sha256()
    assert loads(same) == base
    written_out = loads(SMALLEST, overrides=["queue.size=1.0 bdp", "traffic.0.packet=12 kbit"])
    assert written_out.sha256() == base.sha256()
    for change in ("link.rate=156 Mbit/s", "traffic.0.flows=101", "goals.utilization=0.5"):
        assert loads(SMALLEST, overrides=[change]).sha256() != base.sha256()


def test_35_ms_is_the_same_hash_in_seconds() -> None:
    """35 * 1e-3 is not 0.035 in binary floating point; exact decimals make them one."""
    one, other = (loads(SMALLEST, overrides=[f"traffic.0.rtt={t}"]) for t in ("35 ms", "0.035 s"))
    assert one.sha256() == other.sha256()


def test_another_buffer_is_another_question() -> None:
    scenario = load(OC3)
    smaller = scenario.with_buffer(64)
    assert smaller.buffer_packets == 64
    assert smaller.traffic == scenario.traffic
    assert smaller.sha256() != scenario.sha256()
    assert loads(dumps(smaller)) == smaller
    with pytest.raises(ScenarioError, match="at least 1 packet"):
        scenario.with_buffer(0)


def test_scenarios_and_errors_cross_processes() -> None:
    scenario = load(OC3)
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    error = ScenarioError("missing", "is missing", "write it", file="a", field="b")
    assert str(pickle.loads(pickle.dumps(error))) == "a: b: is missing; write it"


def test_a_scenario_cannot_be_changed() -> None:
    scenario: Scenario = load(OC3)
    with pytest.raises(ScenarioError, match=r"Link: rate: .* frozen; write scenario.replace"):
        scenario.link.rate = Rate(1.0)  # type: ignore[misc]
