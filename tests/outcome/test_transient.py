"""A network's way through time as a table, and in one line."""

import numpy as np

from forebay.outcome.transient import HopsSeries, LinkSeries, Transient

COURSE = Transient(
    scenario={"name": "pair", "link": {"rate": "1 Mbit/s"},
              "traffic": [{"kind": "long", "flows": 4}]},
    start="cold", start_scenario=None, step_s=0.5, steps=2, at_s=np.array([0.0, 1.0]),
    links={"core": LinkSeries(
        links=1, utilization=np.array([0.0, 1.0]), loss_rate=np.array([0.0, 0.01]),
        queue_packets=np.array([0.0, 9.0]), buffer_packets=10.0, steady=None,
    )},
    hops=[HopsSeries(
        hops=1, connections=4.0, throughput_bps=np.array([1e3, 2e3]), steady_throughput_bps=None
    )],
    throughput_bps=np.array([1e3, 2e3]), rtt_s=np.array([0.01, 0.02]),
    steady_throughput_bps=None, steady_rtt_s=None, residual=0.0, distance=None,
    oscillating_links=0, oscillations=[], cpu_s=0.0,
)  # fmt: skip


def test_every_series_is_a_column_with_its_unit() -> None:
    assert COURSE.columns() == {
        "at_s": [0.0, 1.0],
        "throughput_bps": [1e3, 2e3],
        "rtt_s": [0.01, 0.02],
        "utilization.core": [0.0, 1.0],
        "loss_rate.core": [0.0, 0.01],
        "queue_packets.core": [0.0, 9.0],
        "throughput_bps.hops_1": [1e3, 2e3],
    }


def test_it_has_a_short_repr() -> None:
    assert COURSE.instants == 2
    assert repr(COURSE) == "Transient('pair', 1 s in 2 steps)"


def test_parts_with_arrays_are_equal_if_all_their_values_are() -> None:
    (hops,) = COURSE.hops
    changed = {**hops.model_dump(), "throughput_bps": np.array([1e3, 3e3])}
    assert HopsSeries(**hops.model_dump()) == hops != HopsSeries(**changed)
    assert hops != hops.model_dump()
