"""The theory engine: its Outcome is filled from the governing law and from nothing else."""

import math
import pickle
from collections.abc import Callable
from statistics import NormalDist

import pytest

import forebay
from forebay.engines.errors import NoLaw
from forebay.engines.theory import TheoryEngine
from forebay.outcome import Outcome
from forebay.scenario import Scenario

Make = Callable[..., Scenario]


def run(scenario: Scenario) -> Outcome:
    return TheoryEngine().run(scenario, [1, 2])


def test_oc3_outcome(oc3):
    outcome = run(oc3())
    link = outcome.links["bottleneck"]
    assert link.utilization.value == pytest.approx(0.982, abs=5e-4)
    assert (link.utilization.low, link.utilization.high, link.utilization.n) == (None, None, 0)
    assert link.queue_packets.mean.value == pytest.approx(64.5)
    assert link.queue_delay_s.mean.value == pytest.approx(64.5 * 12_000 / 155e6)
    assert link.loss_rate.low == pytest.approx(0.5 * link.loss_rate.value)
    assert link.loss_rate.high == pytest.approx(3.3 * link.loss_rate.value)
    assert "fewer than 250 flows: windows may be synchronized" in outcome.broken_assumptions
    assert len(set(outcome.broken_assumptions)) == len(outcome.broken_assumptions)
    assert outcome.provenance.seeds == [1, 2]


@pytest.mark.parametrize(
    ("changes", "bounds"),
    [
        ((), ["utilization"]),
        (("traffic.0.flows=400",), ["utilization"]),
        (("traffic.0.flows=5",), []),
        (("traffic.0.flows=1",), []),
    ],
)
def test_only_eq_6_is_a_lower_bound_from_which_no_throughput_follows(oc3, changes, bounds):
    outcome = run(oc3(*changes))
    assert outcome.provenance.lower_bounds == bounds  # type: ignore[attr-defined]
    assert (outcome.classes[0].throughput_bps is None) == bool(bounds)


def test_single_flow_is_the_sawtooth(oc3):
    link = run(oc3("traffic.0.flows=1", 'queue.size="1 bdp"')).links["bottleneck"]
    assert link.utilization.value == pytest.approx(1.0, abs=1e-6)
    assert link.loss_rate.value == pytest.approx(8 / 3 / (2 * 1291.67) ** 2, rel=1e-3)


GOALS = (
    "goals.utilization={at_least=0.98, probability=0.99}",
    "goals.loss_rate={at_most=0.01, probability=0.99}",
    'goals.queue_delay={maximum="1 s", quantile=0.999, at_most="1 s"}',
)


def asked(oc3: Make, *changes: str) -> dict[str, float]:
    found = run(oc3(*GOALS, *changes)).links["bottleneck"].goal_metrics
    return {name: metric.value for name, metric in found.items()}


def test_probabilities_follow_the_normal_sum_of_the_windows(oc3):
    """W is normal, its mean BDP + B/2, its deviation (BDP + B) / (3 sqrt(3 n)) (A, §3.2)."""
    bdp, size = 1291.6667, 129
    normal = NormalDist(bdp + size / 2, (bdp + size) / (3 * math.sqrt(3 * 100)))
    found = asked(oc3)
    assert found["utilization_probability"] == pytest.approx(1 - normal.cdf(bdp), rel=1e-6)
    most = (bdp + size) / 0.99
    assert found["loss_rate_probability"] == pytest.approx(normal.cdf(most), rel=1e-6)
    assert found["queue_delay_maximum"] == pytest.approx(129 * 12_000 / 155e6)
    assert found["queue_delay_p99.9"] <= found["queue_delay_maximum"]


def test_in_step_the_sawtooth_tells_the_share_of_its_cycle(oc3):
    """A buffer of one bdp keeps the link busy throughout; without any, W climbs from bdp/2.

    One flow loses one packet of 2 bdp a cycle, far less than 1 % of a round trip's packets.
    """
    full = asked(oc3, "traffic.0.flows=1", "queue.size=1 bdp")
    assert full["utilization_probability"] == pytest.approx(1.0, abs=1e-3)
    assert full["loss_rate_probability"] == 1.0
    none = asked(oc3, "traffic.0.flows=1", "queue.size=1 packets",
                 "goals.utilization={at_least=0.75, probability=0.9}")  # fmt: skip
    assert none["utilization_probability"] == pytest.approx(0.5, abs=2e-3)


def test_loss_in_step_spares_all_but_a_round_trip_of_a_cycle(oc3):
    """9 flows, each growing by one a round trip, climb from Wmax/2 in Wmax/18 round trips.

    They lose 9 of 2 bdp packets in one of them, more than the 0.2 % asked for.
    """
    found = asked(
        oc3, "traffic.0.flows=9", "queue.size=1 bdp",
        "goals.loss_rate={at_most=0.002, probability=0.99}",
    )  # fmt: skip
    rounds = 1.5 * (2 * 1291.67 / 2) ** 2 / 9 / (2 * 1291.67)
    assert found["loss_rate_probability"] == pytest.approx(1 - 1 / rounds, rel=1e-3)


def test_round_trips_exactly_alike_are_refused_with_what_to_write(oc3):
    alike = oc3("traffic.0.flows=400", "traffic.0.rtt=80 ms")
    with pytest.raises(NoLaw) as caught:
        forebay.run(alike, engine="theory")
    assert str(caught.value).endswith('rtt={"uniform": ["64 ms", "96 ms"]}')
    assert pickle.loads(pickle.dumps(caught.value)).instead == caught.value.instead
    apart = alike.replace({"traffic.0.rtt": {"uniform": ["64 ms", "96 ms"]}})
    assert forebay.run(apart, engine="theory").engine == "theory"
