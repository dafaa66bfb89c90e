"""Outcomes of other simulators' packets, against a queue that is known and against our own."""

import numpy as np
import pytest

import forebay
from forebay import Link, Measure, Outcome, Queue, Scenario, ScenarioError, Udp

ASKED = Scenario(
    link=Link(rate="12 Mbit/s"),
    queue=Queue(size="20 packets"),
    traffic=[Udp(flows=1, load=0.9, arrivals="poisson", start="0 s")],
    measure=Measure(warmup="1 s", duration="20 s"),
)


def packets(seed: int, most_s: float = 20e-3) -> dict[str, object]:
    """Return a queue of 20 packets of 1 ms each, which come at random."""
    arrived = np.cumsum(np.random.default_rng(seed).exponential(1e-3 / 0.9, 25_000))
    started, free = np.full(arrived.shape, np.nan), 0.0
    for number, now in enumerate(arrived):
        if free - now <= most_s:
            started[number] = max(now, free)
            free = started[number] + 1e-3
    return {"arrived_s": arrived, "started_s": started, "bytes": 1500}


def test_metrics_are_those_of_our_own_simulation() -> None:
    seeds = range(1, 9)
    theirs = Outcome.of_packets(ASKED, "mine", {seed: packets(seed) for seed in seeds})
    ours = forebay.run(ASKED, seeds=8)
    for made in (theirs, ours):
        link = made.links["bottleneck"]
        # M/D/1 of load 0.9 waits rho / 2 (1 - rho) packets; 20 places cut it to some 4.
        assert 3.4 < link.queue_packets.mean.value < 4.5
        assert link.utilization.value == pytest.approx(0.9, abs=0.01)
    for part in ("mean", "p50", "p95", "p99"):
        one, other = (getattr(m.links["bottleneck"].queue_delay_s, part) for m in (theirs, ours))
        assert one.value == pytest.approx(other.value, rel=0.1), part
    assert Outcome.from_json(theirs.to_json()) == theirs
    assert theirs.classes[0].timeouts is None


def test_what_no_such_queue_does_is_refused() -> None:
    with pytest.raises(ScenarioError, match="queue-within-limit"):
        Outcome.of_packets(ASKED, "mine", {1: packets(1, most_s=1.0)})
