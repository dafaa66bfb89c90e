"""The draw: the same flows after a change of any other field, within the scenario's limits."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.scenario import Scenario, loads, tcp
from forebay.workload import Workload, draw
from forebay.workload.drawing import apportion

BASE = """
link.rate = "155 Mbit/s"
[[traffic]]
flows = 100
rtt = { uniform = ["80 ms", "120 ms"] }
start = { uniform = ["0 s", "10 s"] }
"""
SNAPSHOT = {
    "rtt_ps": [94096152831, 93396282159, 82511965270],
    "start_ps": [6956642404475, 5338705636330, 3660784086367],
    "tie_break_seed": 4473822744481827463,
}
SECOND = '[[traffic]]\nflows = 50\nrtt = { uniform = ["1 ms", "2 ms"] }\npacket = "576 B"\n'
PS = 10**12


def scenario(*sets: str, text: str = BASE) -> Scenario:
    return loads(text, overrides=sets)


def arrays(workload: Workload) -> dict[str, np.ndarray]:
    named = {f.name: getattr(workload, f.name) for f in dataclasses.fields(workload)}
    return {name: value for name, value in named.items() if isinstance(value, np.ndarray)}


@pytest.mark.parametrize(
    "sets",
    [
        ("queue.size=7 packets",),
        ("goals.utilization=0.5", "goals.loss_rate=0.1"),
        ("measure.warmup=3 s", "measure.duration=77 s"),
        ("link.rate=1 Gbit/s", "traffic.0.access_rate=1.55 Gbit/s", "name=other"),
    ],
)
def test_what_is_not_traffic_changes_no_draw(sets):
    one, other = draw(scenario(), 5), draw(scenario(*sets), 5)
    for name, values in arrays(one).items():
        np.testing.assert_array_equal(values, arrays(other)[name])
    assert one.tie_break_seed == other.tie_break_seed


def test_one_field_s_distribution_changes_no_other_draw():
    one, other = draw(scenario(), 5), draw(scenario('traffic.0.start={uniform=["0 s","1 s"]}'), 5)
    np.testing.assert_array_equal(one.rtt_ps, other.rtt_ps)
    assert (one.start_ps != other.start_ps).any()
    constant = draw(scenario("traffic.0.rtt=100 ms"), 5)
    np.testing.assert_array_equal(one.start_ps, constant.start_ps)
    assert (constant.rtt_ps == PS // 10).all()


def test_a_second_class_changes_nothing_in_the_first():
    one, both = draw(scenario(), 5), draw(scenario(text=BASE + SECOND), 5)
    for name, values in arrays(one).items():
        np.testing.assert_array_equal(values, arrays(both)[name][:100])
    assert both.traffic_class.tolist() == [0] * 100 + [1] * 50
    assert set(both.packet_bytes[100:]) == {576}


def test_more_flows_keep_the_first_ones_draws():
    one, more = draw(scenario(), 5), draw(scenario("traffic.0.flows=400"), 5)
    np.testing.assert_array_equal(one.rtt_ps, more.rtt_ps[:100])
    np.testing.assert_array_equal(one.start_ps, more.start_ps[:100])


def test_snapshot_within_physical_bounds():
    flows = draw(scenario(), 1)
    assert flows.rtt_ps[:3].tolist() == SNAPSHOT["rtt_ps"]
    assert flows.start_ps[:3].tolist() == SNAPSHOT["start_ps"]
    assert flows.tie_break_seed == SNAPSHOT["tie_break_seed"]
    assert flows.rtt_ps.min() >= 80 * PS // 1000
    assert flows.rtt_ps.max() <= 120 * PS // 1000
    assert flows.start_ps.min() >= 0 and flows.start_ps.max() <= 10 * PS
    assert not flows.segments.any()


def test_draws_are_uniform_and_streams_are_unrelated():
    """Mean and variance of 100,000 uniform draws; correlation: within 5 standard errors."""
    flows = draw(scenario("traffic.0.flows=100000"), 3)
    u, v = (flows.rtt_ps / PS - 0.08) / 0.04, flows.start_ps / PS / 10
    for draws in (u, v):
        assert draws.mean() == pytest.approx(0.5, abs=5 * (1 / 12 / 1e5) ** 0.5)
        assert draws.var() == pytest.approx(1 / 12, rel=0.02)
    assert abs(np.corrcoef(u, v)[0, 1]) < 5 / 1e5**0.5


def test_types_and_shapes():
    flows = draw(scenario(text=BASE + SECOND), 2**64 - 1)
    kinds = {name: values.dtype.name for name, values in arrays(flows).items()}
    assert kinds == {
        "traffic_class": "int32",
        "congestion_control": "int32",
        "rtt_ps": "int64",
        "start_ps": "int64",
        "segments": "int64",
        "packet_bytes": "int32",
        "access_bps": "float64",
        "access_group": "int32",
        "reverse": "bool",
    }
    assert {values.shape for values in arrays(flows).values()} == {(150,)}
    assert 0 <= flows.tie_break_seed < 2**64
    with pytest.raises(ValueError, match="read-only"):
        flows.rtt_ps[0] = 1


def test_seeds_differ_and_are_checked():
    assert (draw(scenario(), 1).rtt_ps != draw(scenario(), 2).rtt_ps).any()
    for seed in (-1, 2**64):
        with pytest.raises(ValueError, match="seed"):
            draw(scenario(), seed)


def test_shares_are_exact_and_shuffled(monkeypatch):
    names = ("reno", "cubic", "bbr")
    monkeypatch.setattr(tcp, "CONGESTION_CONTROLS", names)
    monkeypatch.setattr("forebay.workload.drawing.CONGESTION_CONTROLS", names)
    shares = "traffic.0.congestion_control={bbr=0.255, cubic=0.745}"
    mixed = draw(scenario(shares), 1)
    controls = [mixed.congestion_controls[i] for i in mixed.congestion_control]
    assert (controls.count("cubic"), controls.count("bbr")) == (74, 26)
    assert controls not in (sorted(controls), sorted(controls, reverse=True))
    assert apportion(10, {"a": 0.24, "b": 0.76}) == {"a": 2, "b": 8}, "the largest remainder"
    np.testing.assert_array_equal(mixed.rtt_ps, draw(scenario(), 1).rtt_ps)


@given(
    st.integers(1, 10_000_000),
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0.001, 1), min_size=1),
)
def test_apportioned_flows_are_all_the_flows(flows, shares):
    counts = apportion(flows, shares)
    total = sum(shares.values())
    assert sum(counts.values()) == flows
    assert all(abs(counts[name] - flows * shares[name] / total) < 1 + 1e-6 for name in shares)
