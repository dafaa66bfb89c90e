"""What goals ask of the readings beyond the plain metrics."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from forebay.outcome import Histogram, LinkReading, RoundTrips
from forebay.outcome.metrics import goal_metrics
from forebay.scenario import Duration, Goals

CAPACITY = 1e6


def link(used: Any, drops: Any, waits: Any = (0, 3, 1, 0)) -> LinkReading:
    """Two batches of three round trips in 6 s; waits counts packets in bins of 1 ms."""
    share, lost = np.array(used, float).reshape(2, 3), np.array(drops, np.int64).reshape(2, 3)
    rounds = RoundTrips(share * CAPACITY, np.full((2, 3), 100), lost)
    edges = np.arange(len(waits) + 1) * 1e-3
    empty = np.zeros(2)
    return LinkReading(
        capacity_bps=CAPACITY, window_s=6.0, buffer_packets=10, bdp_packets=5.0,
        bits=rounds.bits.sum(axis=1), arrivals=rounds.arrivals.sum(axis=1),
        drops=lost.sum(axis=1), accepted=(rounds.arrivals - lost).sum(axis=1),
        sent=(rounds.arrivals - lost).sum(axis=1), held=np.zeros(3, np.int64), most_packets=10,
        longest_s=float(edges[np.flatnonzero(waits)[-1]]) + 0.4e-3, class_delays=[],
        queue_packet_s=empty, queue_s=np.zeros((2, 1)), queue_step=1,
        delay=Histogram(np.asarray(edges, np.float64), np.array(waits, float)),
        delay_sum_s=empty, round_trips=rounds,
    )  # fmt: skip


SEEN = link([1.0, 0.97, 0.99, 1.0, 1.0, 0.5], [0, 2, 1, 0, 5, 0])


def goals(**fields: Any) -> Goals:
    return Goals.model_validate(fields)


def test_the_share_of_round_trips_that_reach_the_target() -> None:
    """4 of 6 are used to 99 % at least; 5 of 6 drop 2 % at most."""
    surely = goals(
        utilization={"at_least": 0.99, "probability": 0.9},
        loss_rate={"at_most": 0.02, "probability": 0.9},
    )
    found = goal_metrics([SEEN], surely)
    assert found["utilization_probability"].value == pytest.approx(4 / 6)
    assert found["loss_rate_probability"].value == pytest.approx(5 / 6)
    assert found["utilization_probability"].n == 1
    assert found["utilization_probability"].low is not None  # from its two batches


def test_a_busy_link_reaches_one_whatever_its_bits_sum_up_to() -> None:
    full = link([1.0 - 1e-13] * 6, [0] * 6)
    surely = goals(utilization={"at_least": 1.0, "probability": 0.9})
    assert goal_metrics([full], surely)["utilization_probability"].value == 1.0


def test_the_longest_wait_and_an_odd_quantile() -> None:
    table = goals(queue_delay={
        "maximum": Duration(1), "quantile": 0.75, "at_most": Duration(1),
    })  # fmt: skip
    found = goal_metrics([SEEN, link([1] * 6, [0] * 6, (4, 0, 0, 1))], table)
    assert found["queue_delay_maximum"].value == pytest.approx(3.4e-3)  # not its bin's edge, 4
    assert found["queue_delay_maximum"].low is None
    # Of 4, 3, 1 and 1 packets together, 6.75 are 2.75 of 3 into the second bin.
    assert found["queue_delay_p75"].value == pytest.approx((1.0 + 2.75 / 3.0) * 1e-3)


def test_what_is_not_asked_is_not_there() -> None:
    assert goal_metrics([SEEN], goals(utilization=0.9, loss_rate=0.1)) == {}
    surely = goals(utilization={"at_least": 0.9, "probability": 0.9})
    assert goal_metrics([replace(SEEN, round_trips=None)], surely) == {}
