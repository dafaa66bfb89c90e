"""The draw: streams that do not depend on each other, within the scenario's limits."""

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
SECOND = '[[traffic]]\nflows = 50\nrtt = { uniform = ["1 ms", "2 ms"] }\npacket = "576 B"\n'
PS = 10**12


def scenario(*sets: str, text: str = BASE) -> Scenario:
    return loads(text, overrides=sets)


def arrays(workload: Workload) -> dict[str, np.ndarray]:
    named = {f.name: getattr(workload, f.name) for f in dataclasses.fields(workload)}
    return {name: value for name, value in named.items() if isinstance(value, np.ndarray)}


def test_one_field_s_distribution_changes_no_other_draw():
    one, other = draw(scenario(), 5), draw(scenario('traffic.0.start={uniform=["0 s","1 s"]}'), 5)
    np.testing.assert_array_equal(one.rtt_ps, other.rtt_ps)
    assert (one.start_ps != other.start_ps).any()
    constant = draw(scenario("traffic.0.rtt=100 ms"), 5)
    np.testing.assert_array_equal(one.start_ps, constant.start_ps)
    assert (constant.rtt_ps == PS // 10).all()


def test_draws_are_uniform_and_streams_are_unrelated():
    """Mean and variance of 100,000 uniform draws; correlation: within 5 standard errors."""
    flows = draw(scenario("traffic.0.flows=100000"), 3)
    assert flows.rtt_ps.min() >= 80 * PS // 1000 and flows.rtt_ps.max() <= 120 * PS // 1000
    assert flows.start_ps.min() >= 0 and flows.start_ps.max() <= 10 * PS
    u, v = (flows.rtt_ps / PS - 0.08) / 0.04, flows.start_ps / PS / 10
    for draws in (u, v):
        assert draws.mean() == pytest.approx(0.5, abs=5 * (1 / 12 / 1e5) ** 0.5)
        assert draws.var() == pytest.approx(1 / 12, rel=0.02)
    assert abs(np.corrcoef(u, v)[0, 1]) < 5 / 1e5**0.5


def test_types_and_shapes():
    flows = draw(scenario(text=BASE + SECOND), 2**64 - 1)
    kinds = {name: values.dtype.name for name, values in arrays(flows).items()}
    assert kinds == {
        "access_bps": "float64", "reverse": "bool", "rtt_ps": "int64", "start_ps": "int64",
        "segments": "int64", "traffic_class": "int32", "congestion_control": "int32",
        "packet_bytes": "int32", "access_group": "int32",
    }  # fmt: skip
    assert {values.shape for values in arrays(flows).values()} == {(150,)}
    assert flows.traffic_class.tolist() == [0] * 100 + [1] * 50
    assert set(flows.packet_bytes[100:]) == {576} and not flows.segments.any()
    assert 0 <= flows.tie_break_seed < 2**64
    with pytest.raises(ValueError, match="read-only"):
        flows.rtt_ps[0] = 1


def test_seeds_differ_and_are_checked():
    first, second = draw(scenario(), 1), draw(scenario(), 2)
    assert (first.rtt_ps != second.rtt_ps).any()
    assert first.tie_break_seed == 4473822744481827463 != second.tie_break_seed
    for seed in (-1, 2**64):
        with pytest.raises(ValueError, match="seed"):
            draw(scenario(), seed)


def test_shares_are_exact_and_shuffled_or_drawn_flow_by_flow(monkeypatch):
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
    short = '[[traffic]]\nkind = "short"\nload = 0.8\nlength = "14 packets"\n'
    found = draw(scenario(shares, text='link.rate = "80 Mbit/s"\n' + short), 1).congestion_control
    assert set(found) == {1, 2} and (found == 1).mean() == pytest.approx(0.745, abs=0.01)


@given(
    st.integers(1, 10_000_000),
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0.001, 1), min_size=1),
)
def test_apportioned_flows_are_all_the_flows(flows, shares):
    counts = apportion(flows, shares)
    total = sum(shares.values())
    assert sum(counts.values()) == flows
    assert all(abs(counts[name] - flows * shares[name] / total) < 1 + 1e-6 for name in shares)
