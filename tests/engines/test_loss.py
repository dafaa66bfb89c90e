"""Random loss of a link, against closed forms."""

import math

import pytest

import forebay
from forebay.outcome.reading_invariants import violations_of_reading
from forebay.scenario import Scenario, ScenarioError, loads

UDP = """
[link]
rate = "100 Mbit/s"
[queue]
size = "50 packets"
[[traffic]]
kind = "udp"
flows = 1
rate = "40 Mbit/s"
start = "0 s"
[measure]
warmup = "1 s"
duration = "30 s"
"""
PACKETS = 30 * 40e6 / 12_000
RENO = """
[link]
rate = "1 Gbit/s"
[queue]
size = "20000 packets"
[[traffic]]
flows = 20
congestion_control = "reno"
sender = "ns2"
delayed_ack = false
sack = true
rtt = "50 ms"
start = { uniform = ["0 s", "1 s"] }
[measure]
warmup = "20 s"
duration = "100 s"
"""
BURSTS = "{ good_to_bad = 0.005, bad_to_good = 0.2 }"


def udp(loss: str, discipline: str = "drop-tail") -> forebay.Outcome:
    tree = loads(UDP).replace({"queue.discipline": discipline})
    return forebay.run(tree.replace({"link.loss": parsed(loss)}), seed=1)


def parsed(loss: str) -> object:
    import tomllib

    return tomllib.loads(f"loss = {loss}")["loss"]


def value(metric: object) -> float:
    return float(metric.value)  # type: ignore[attr-defined]


@pytest.mark.parametrize("place", ["before-queue", "after-queue"])
@pytest.mark.parametrize("discipline", ["drop-tail", "red", "fq_codel"])
def test_datagrams_are_lost_at_the_rate_and_counted_apart(place, discipline):
    outcome = udp(f'{{ rate = 0.03, place = "{place}" }}', discipline)
    link, group = outcome.links["bottleneck"], outcome.classes[0]
    sigma = math.sqrt(0.03 * 0.97 / PACKETS)
    assert abs(value(group.loss_rate) - 0.03) < 4 * sigma
    assert value(link.loss_rate) == 0.0
    assert value(link.lost) == pytest.approx(value(group.loss_rate) * PACKETS, abs=2)
    on_wire = 0.4 if place == "after-queue" else 0.4 * (1 - value(group.loss_rate))
    assert value(link.utilization) == pytest.approx(on_wire, rel=2e-4)
    assert value(group.goodput_bps) == pytest.approx(40e6 * (1 - value(group.loss_rate)), rel=2e-4)


def test_bursts_lose_the_share_of_the_bad_state():
    share, r, p = 0.005 / 0.205, 0.2, 0.005
    # A Markov chain's share over N steps has variance s (1 - s) (2 / (p + r) - 1) / N.
    sigma = math.sqrt(share * (1 - share) * (2 / (p + r) - 1) / PACKETS)
    assert abs(value(udp(BURSTS).classes[0].loss_rate) - share) < 4 * sigma


def test_a_seed_decides_and_another_differs():
    def lost(seed: int) -> float:
        made = loads(UDP).replace({"link.loss": 0.01})
        return value(forebay.run(made, seed=seed).links["bottleneck"].lost)

    assert lost(1) == lost(1) != lost(2)


@pytest.mark.parametrize("p", [0.0005, 0.002])
def test_reno_follows_the_square_root_law(p):
    """Throughput is MSS / RTT sqrt(3 / 2p) with an ACK for each packet (Mathis et al. 1997).

    Independent losses give up to a tenth less than the law's periodic ones (sqrt(8 / 3 pi) of it at
    least: Ott, Kemperman, Mathis 1996, mean of the window 1.31 / sqrt(p)), as does recovery.
    """
    outcome = forebay.run(loads(RENO).replace({"link.loss": p}), seed=1)
    group = outcome.classes[0]
    assert value(group.loss_rate) == pytest.approx(p, rel=0.08)
    assert value(outcome.links["bottleneck"].loss_rate) == 0.0
    rtt = value(group.rtt_s.mean) if group.rtt_s else 0.0
    window = value(group.throughput_bps) / 20 * rtt / 12_000
    assert 0.9 * 1.22 / math.sqrt(p) < window < 1.1 * 1.31 / math.sqrt(p)


def test_losses_and_drops_together_are_the_classes():
    """A full queue and a lossy wire: every packet is dropped, lost or passed."""
    made = loads(UDP).replace({"link.loss": 0.05, "traffic.0.rate": "150 Mbit/s"})
    outcome = forebay.run(made.replace({"traffic.0.flows": 3}), seed=1)
    link, group = outcome.links["bottleneck"], outcome.classes[0]
    queue = value(link.loss_rate)
    assert queue > 0.5
    assert value(group.loss_rate) == pytest.approx(1 - (1 - queue) * 0.95, abs=2e-3)


def test_the_invariant_of_losses_can_fail():
    from dataclasses import replace

    from forebay.engines.replication import to_reading
    from forebay.engines.simulation.runs import make_run

    scenario = loads(UDP).replace({"link.loss": 0.01, "measure.duration": "1 s"})
    run, workload, layout = make_run(scenario, 1)
    from forebay import _core

    reading = to_reading(scenario, 1, workload, layout, _core.simulate([run], jobs=1)[0])
    assert violations_of_reading(reading) == []
    link = replace(reading.links["bottleneck"], lost=None)
    broken = violations_of_reading(replace(reading, links={"bottleneck": link}))
    assert [each.invariant for each in broken] == ["drops-make-classes"]


def test_a_link_without_loss_hashes_as_before_there_was_any():
    assert loads(UDP).sha256() == loads(UDP).replace({"link.loss": None}).sha256()
    assert "loss" not in loads(UDP).to_dict()["link"]
    number, table = (loads(UDP).replace({"link.loss": one}) for one in (0.01, {"rate": 0.01}))
    assert number == table == Scenario.from_dict(number.to_dict())
    assert number.sha256() == table.sha256() != loads(UDP).sha256()


def test_theory_says_that_only_queues_drop():
    with pytest.raises(forebay.Unsupported, match=r"link\.loss: theory cannot run loss of a link"):
        forebay.run(loads(UDP).replace({"link.loss": 0.01}), engine="theory")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"link.loss": 1.5}, "link.loss.rate"),
        ({"link.loss": "1 %"}, "link.loss"),
        ({"link.loss": {}}, "link.loss.rate"),
        ({"link.loss": {"good_to_bad": 0.1}}, "link.loss.bad_to_good"),
        ({"link.loss": {"rate": 0.1, "loss_in_bad": 0.5}}, "link.loss.loss_in_bad"),
        ({"link.loss": 0.1, "queue.transmit_ring": 3}, "queue.transmit_ring"),
    ],
)
def test_what_cannot_be_is_refused_where_it_is_written(changes, field):
    with pytest.raises(ScenarioError) as refused:
        loads(UDP).replace(changes)
    assert refused.value.field == field


def test_no_window_of_a_smaller_link_stands_for_it():
    from forebay.search.scaling import why_not

    assert why_not(loads(RENO)) is None
    assert why_not(loads(RENO).replace({"link.loss": 1e-4})) == "a smaller window loses less often"


@pytest.mark.parametrize(
    ("loss", "share"),
    [
        ("0.01", 0.01),
        ("{ rate = 1e-5, unit = 'byte' }", 1 - (1 - 1e-5) ** 1500),
        (BURSTS, 0.005 / 0.205),
        (BURSTS.replace(" }", ", loss_in_bad = 0.5, loss_in_good = 0.1 }"), 0.1 + 0.4 * 5 / 205),
    ],
)
def test_the_mean_of_a_channel(loss, share):
    channel = loads(UDP).replace({"link.loss": parsed(loss)}).link.loss
    assert channel.mean(1500) == pytest.approx(share)


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ('rate = "1 Gbit/s"\nloss = 0.01', "a link loses packets by itself"),
        ('rate_trace = { steps = [["0 s", "2 Gbit/s"], ["1 s", "1 Gbit/s"]] }', "rate varies"),
    ],
)
def test_no_law_holds_on_such_a_link(link, said):
    scenario = loads(RENO.replace('rate = "1 Gbit/s"', link) + "[goals]\nutilization = 0.98\n")
    answers = forebay.laws.for_scenario(scenario)
    assert answers and all(said in "; ".join(each.broken_assumptions) for each in answers)


def test_a_sizing_says_what_the_link_itself_loses():
    asked = loads(UDP).replace({"link.rate": "20 Mbit/s", "goals.queue_delay_mean": "1 s"})
    lossy = asked.replace({"traffic.0.rate": "10 Mbit/s", "link.loss": 0.01})
    found = forebay.size(lossy, seeds=2, max_seeds=2, jobs=1)
    assert "the link itself loses 1 % of the packets, at any size" in found.notes
