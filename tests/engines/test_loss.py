"""Random loss of a link, against closed forms."""

import math
from dataclasses import replace

import pytest

import forebay
from forebay import _core
from forebay.engines.replication.readings import to_reading
from forebay.engines.simulation.runs import make_run
from forebay.outcome.reading_invariants import violations_of_reading
from forebay.scenario import Scenario, loads

UDP = """
link.rate = "100 Mbit/s"
queue.size = "50 packets"
measure = { warmup = "1 s", duration = "30 s" }
traffic = [{ kind = "udp", flows = 1, rate = "40 Mbit/s", start = "0 s" }]
"""
PACKETS = 30 * 40e6 / 12_000
RENO = """
link.rate = "1 Gbit/s"
queue.size = "20000 packets"
measure = { warmup = "20 s", duration = "100 s" }
traffic = [
  { flows = 20, congestion_control = "reno", sender = "ns2", delayed_ack = false, sack = true, \
    rtt = "50 ms", start = { uniform = ["0 s", "1 s"] } },
]
"""
BURSTS = {"good_to_bad": 0.005, "bad_to_good": 0.2}


def udp(loss: object, **more: object) -> Scenario:
    return loads(UDP).replace({"link.loss": loss, **more})


@pytest.mark.parametrize("place", ["before-queue", "after-queue"])
@pytest.mark.parametrize("discipline", ["drop-tail", "red", "fq_codel"])
def test_datagrams_are_lost_at_the_rate_and_counted_apart(place, discipline):
    loss = {"rate": 0.03, "place": place}
    outcome = forebay.run(udp(loss, **{"queue.discipline": discipline}))
    link, group = outcome.links["bottleneck"], outcome.classes[0]
    sigma = math.sqrt(0.03 * 0.97 / PACKETS)
    assert abs(group.loss_rate.value - 0.03) < 4 * sigma
    assert link.loss_rate.value == 0.0
    assert link.lost.value == pytest.approx(group.loss_rate.value * PACKETS, abs=2)
    on_wire = 0.4 if place == "after-queue" else 0.4 * (1 - group.loss_rate.value)
    assert link.utilization.value == pytest.approx(on_wire, rel=2e-4)
    assert group.goodput_bps.value == pytest.approx(40e6 * (1 - group.loss_rate.value), rel=2e-4)


def test_bursts_lose_the_share_of_the_bad_state_and_a_seed_decides():
    share, r, p = 0.005 / 0.205, 0.2, 0.005
    # A Markov chain's share over N steps has variance s (1 - s) (2 / (p + r) - 1) / N.
    sigma = math.sqrt(share * (1 - share) * (2 / (p + r) - 1) / PACKETS)
    assert abs(forebay.run(udp(BURSTS)).classes[0].loss_rate.value - share) < 4 * sigma
    made = loads(UDP).replace({"link.loss": 0.01})
    one, same, other = (forebay.run(made, seed=s).links["bottleneck"].lost for s in (1, 1, 2))
    assert one == same != other


@pytest.mark.parametrize("p", [0.0005, 0.002])
def test_reno_follows_the_square_root_law(p):
    """Throughput is MSS / RTT sqrt(3 / 2p) with an ACK for each packet (Mathis et al. 1997).

    Independent losses give up to a tenth less than the law's periodic ones (sqrt(8 / 3 pi) of it at
    least: Ott, Kemperman, Mathis 1996, mean of the window 1.31 / sqrt(p)), as does recovery.
    """
    outcome = forebay.run(loads(RENO).replace({"link.loss": p}), seed=1)
    group = outcome.classes[0]
    assert group.loss_rate.value == pytest.approx(p, rel=0.08)
    assert outcome.links["bottleneck"].loss_rate.value == 0.0
    rtt = group.rtt_s.mean.value if group.rtt_s else 0.0
    window = group.throughput_bps.value / 20 * rtt / 12_000
    assert 0.9 * 1.22 / math.sqrt(p) < window < 1.1 * 1.31 / math.sqrt(p)


def test_losses_and_drops_together_are_the_classes():
    """A full queue and a lossy wire: every packet is dropped, lost or passed."""
    more = {"traffic.0.rate": "150 Mbit/s", "traffic.0.flows": 3}
    outcome = forebay.run(udp(0.05, **more))
    link, group = outcome.links["bottleneck"], outcome.classes[0]
    queue = link.loss_rate.value
    assert queue > 0.5
    assert group.loss_rate.value == pytest.approx(1 - (1 - queue) * 0.95, abs=2e-3)


def test_the_invariant_of_losses_can_fail():
    scenario = udp(0.01, **{"measure.duration": "1 s"})
    run, workload, layout = make_run(scenario, 1)
    reading = to_reading(scenario, 1, workload, layout, _core.simulate([run], jobs=1)[0])
    assert violations_of_reading(reading) == []
    link = replace(reading.links["bottleneck"], lost=None)
    broken = violations_of_reading(replace(reading, links={"bottleneck": link}))
    assert [each.invariant for each in broken] == ["drops-make-classes"]


def test_a_link_without_loss_hashes_as_before_there_was_any():
    assert loads(UDP).sha256() == udp(None).sha256()
    assert "loss" not in loads(UDP).to_dict()["link"]
    number, table = udp(0.01), udp({"rate": 0.01})
    assert number == table == Scenario.from_dict(number.to_dict())
    assert number.sha256() == table.sha256() != loads(UDP).sha256()


@pytest.mark.parametrize(
    ("loss", "share"),
    [
        (0.01, 0.01),
        ({"rate": 1e-5, "unit": "byte"}, 1 - (1 - 1e-5) ** 1500),
        (BURSTS, 0.005 / 0.205),
        (BURSTS | {"loss_in_bad": 0.5, "loss_in_good": 0.1}, 0.1 + 0.4 * 5 / 205),
    ],
)
def test_the_mean_of_a_channel(loss, share):
    assert udp(loss).link.loss.mean(1500) == pytest.approx(share)
