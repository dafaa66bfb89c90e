"""Links with a shaper or a policer, from a scenario to an answer."""

from typing import get_args

import pytest
from tests.refused import refused
from tests.scenarios import scenario

import forebay
from forebay.scenario.queue import Discipline


def answer(bucket: str, rate: str, refill: str, discipline: str = "drop-tail") -> forebay.Outcome:
    burst = {} if refill == "deficit" else {"burst": "15 kB"}
    udp = {"kind": "udp", "flows": 1, "rate": rate, "start": "0 s"}
    classes = [{"name": "all", "default": True}] if discipline == "classes" else []
    asked = {
        "link.rate": "100 Mbit/s",
        f"link.{bucket}": {"rate": "10 Mbit/s", "refill": refill} | burst,
        "queue": {"discipline": discipline, "size": "50 packets", "classes": classes},
        "traffic": [udp], "measure.duration": "10 s",
    }  # fmt: skip
    return forebay.run(scenario(asked), seeds=3)


@pytest.mark.parametrize("refill", ["continuous", "interval", "deficit"])
@pytest.mark.parametrize("discipline", get_args(Discipline))
def test_a_shaped_link_gives_its_rate(refill, discipline):
    outcome = answer("shaper", "40 Mbit/s", refill, discipline)
    link, udp = outcome.links["bottleneck"], outcome.classes[0]
    assert link.utilization.value == pytest.approx(1.0, abs=1e-6)
    # The rate, and what the bucket lets pass beside it: 2 Bc where tokens come at once, a packet
    # where none are kept.
    beyond = {"continuous": 15_000, "interval": 30_000, "deficit": 1500}[refill] * 8 / 10
    assert 10e6 - beyond <= udp.throughput_bps.value <= 10e6 + beyond
    assert link.loss_rate.value == pytest.approx(0.75, abs=0.01)


@pytest.mark.parametrize("refill", ["continuous", "interval"])
def test_a_policer_loses_what_is_above_its_rate(refill):
    """And below it nothing is lost, by a shaper too."""
    udp = answer("policer", "12.5 Mbit/s", refill).classes[0]
    assert udp.loss_rate.value == pytest.approx(0.2, abs=0.002)
    for bucket in ("shaper", "policer"):
        loss = answer(bucket, "9.9 Mbit/s", "continuous").links["bottleneck"].loss_rate
        assert loss.value == 0.0


def test_a_shaper_without_a_burst_is_a_wire_of_its_rate():
    """All starts are the same; what differs is that the last bit of a packet leaves earlier."""
    shaper = "link.shaper={rate='50 Mbit/s', refill='deficit'}"
    plain, shaped = (
        forebay.run(forebay.load("oc3-gsr", ["traffic.0.flows=20", *sets]), seeds=3)
        .links["bottleneck"]
        for sets in (["link.rate=50 Mbit/s"], ["link.rate=1 Tbit/s", shaper])
    )  # fmt: skip
    assert shaped.utilization.value == pytest.approx(plain.utilization.value, abs=0.004)
    assert shaped.loss_rate.value == pytest.approx(plain.loss_rate.value, rel=0.1)


@pytest.mark.parametrize(
    ("bucket", "said"),
    [
        ("shaper={rate='9 Mbit/s'}", "shaper.burst: is not written; write one, such as burst"),
        ("shaper={rate='9 Mbit/s', burst='9 kB', refill='deficit'}",
         'link.shaper.burst: refill = "deficit" keeps no tokens; leave it out'),
        ("policer={rate='9 Mbit/s', refill='deficit'}",
         "link.policer.refill: a policer without a bucket drops every burst"),
    ],
)  # fmt: skip
def test_a_burst_is_written_where_tokens_are_kept_and_only_there(bucket, said):
    with refused(said):
        forebay.load("oc3-gsr", [f"link.{bucket}"])
