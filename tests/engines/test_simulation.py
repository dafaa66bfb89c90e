"""The simulation engine: what its options do, interruption, and what it refuses."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.cases import cases
from tests.refused import refused

from forebay import _core
from forebay.effort import Effort
from forebay.engines.simulation import SimulationEngine
from forebay.outcome import LinkOutcome, Outcome
from forebay.scenario import Scenario, load, loads

SMALL = """
link.rate = "20 Mbit/s"
queue.size = "20 packets"
measure = { warmup = "2 s", duration = "4 s" }
[[traffic]]
flows = 12
rtt = { uniform = ["20 ms", "40 ms"] }
start = { uniform = ["0 s", "1 s"] }
"""


def scenario(*overrides: str) -> Scenario:
    return loads(SMALL, overrides=overrides)


def run(*overrides: str, seeds: Sequence[int] = (1,)) -> Outcome:
    return SimulationEngine().run(scenario(*overrides), seeds)


def link_of(*overrides: str) -> LinkOutcome:
    return run(*overrides).links["bottleneck"]


def test_jitter_lengthens_the_mean_round_trip_by_half_of_it():
    def mean_rtt(*more: str) -> float:
        one = ("traffic.0.flows=1", "traffic.0.rtt=30 ms", "traffic.0.max_window=1")
        alone = run(*one, "traffic.0.delayed_ack=false", *more, seeds=(1, 2))
        return alone.classes[0].rtt_s.mean.value

    assert mean_rtt("traffic.0.jitter=20 ms") - mean_rtt() == pytest.approx(0.01, rel=0.1)


@pytest.mark.parametrize("sender", ["ns2", "linux"])
@pytest.mark.parametrize("wait_ms", [60, 150])
def test_a_lone_packet_s_ack_waits_for_the_delayed_ack_timeout(sender, wait_ms):
    """One packet in flight: nothing comes for its ACK to wait with."""
    one = ("traffic.0.flows=1", "traffic.0.rtt=300 ms", "traffic.0.max_window=1")
    asked = (f"traffic.0.sender={sender}", "traffic.0.delayed_ack=true", "traffic.0.min_rto=2 s")
    rtt = run(*one, *asked, f"traffic.0.delayed_ack_timeout={wait_ms} ms").classes[0].rtt_s
    shown = rtt.mean if sender == "ns2" else rtt.p99  # Linux's first ACKs go at once
    assert shown.value == pytest.approx(0.3 + wait_ms / 1e3, abs=0.01)


def test_progress_rises_to_one_and_an_exception_in_it_stops_the_run():
    asked = scenario("measure.duration=60000 s")
    seen: list[float] = []

    def interrupt(fraction: float) -> None:
        seen.append(fraction)
        if len(seen) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SimulationEngine().run(asked, [1, 2], Effort(progress=interrupt))
    assert len(seen) == 4 and seen == sorted(seen) and seen[-1] < 1


@pytest.mark.parametrize("name", _core.CONGESTION_CONTROLS)
def test_every_congestion_control_uses_the_link(name):
    assert 0.7 < link_of(f"traffic.0.congestion_control={name}").utilization.value <= 1


def test_the_core_refuses_what_it_cannot_run():
    def run(rate_bps: float, route: int) -> _core.Run:
        i32, i64 = np.zeros(1, np.int32), np.ones(1, np.int64)
        flows = _core.Flows(
            traffic_class=i32, route=i32 + np.int32(route), congestion_control=i32, rtt_ps=i64,
            start_ps=i64, segments=0 * i64, packet_bytes=i32 + np.int32(1500),
            access_bps=np.full(1, 1e9), open_loop=np.zeros(1, np.bool_),
        )  # fmt: skip
        link = _core.Link({"rate_bps": rate_bps, "buffer_packets": 1})
        return _core.Run(
            links=[link], routes=[([0], [])], profiles=[_core.Profile("ns2")], flows=flows,
            seed=1, warmup_ps=0, window_ps=10**12, batches=1,
        )  # fmt: skip

    run(1e6, 0)
    for said, make in {
        "link rate must be positive": lambda: run(float("nan"), 0),
        "no route number 1": lambda: run(1e6, 1),
        "unknown sender profile": lambda: _core.Profile("plan9"),
        "no sender has": lambda: _core.Profile("linux", {"nonsense": 1}),
    }.items():
        with pytest.raises(ValueError, match=said):
            make()


def test_a_goal_with_a_probability_is_read_a_round_trip_and_changes_nothing_else():
    """30 ms in 200 ms batches: 7 round trips each; the runs themselves are the same."""
    surely = (
        "queue.size=5 packets",
        "goals.utilization={at_least=0.6, probability=0.5}",
        "goals.loss_rate={at_most=0.01, probability=0.5}",
        'goals.queue_delay={maximum="1 s", quantile=0.999, at_most="1 s"}',
    )
    plain, link = link_of("queue.size=5 packets"), link_of(*surely)
    assert plain.goal_metrics == {} and link.loss_rate == plain.loss_rate
    assert link.utilization.value == pytest.approx(plain.utilization.value, rel=1e-12)
    queue, before = link.queue_packets, plain.queue_packets
    assert queue.p99 == before.p99
    # Summed over other batches: the last digit may differ.
    assert queue.mean.low == pytest.approx(before.mean.low, rel=1e-12)
    assert queue.mean.high == pytest.approx(before.mean.high, rel=1e-12)
    used, lost = (link.goal_metrics[f"{of}_probability"] for of in ("utilization", "loss_rate"))
    assert 0.0 < used.value < 1.0 and 0.0 < lost.value < 1.0
    assert used.value * 140 == pytest.approx(round(used.value * 140))  # 20 batches of 7
    longest, odd = link.goal_metrics["queue_delay_maximum"], link.goal_metrics["queue_delay_p99.9"]
    assert link.queue_delay_s.p99.value <= odd.value <= longest.value
    assert longest.value <= 6.5 * 12_000 / 20e6  # five that wait and one on the wire


SHIPPED = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))
LONGEST = ("abilene-fast-edge-small", "abilene-fast-edge-traditional", "oc192-backbone")
"""Tens of thousands of connections each; others of their kind run with every change."""


@pytest.mark.parametrize(
    "path", cases(SHIPPED, lambda path: path.stem not in LONGEST), ids=lambda path: path.stem
)
def test_every_shipped_scenario_plays(path):
    """Networks for a hundredth of a second: with their flows, seconds take minutes."""
    network = "[topology]" in path.read_text()
    times = ("10 ms", "10 ms") if network else ("2 s", "4 s")
    asked = load(path, [f"measure.warmup={times[0]}", f"measure.duration={times[1]}"])
    outcome = SimulationEngine().run(asked, [1])
    for link in outcome.links.values():
        assert 0.0 <= link.utilization.value <= 1.0
    if network:
        assert outcome.network.connections == sum(int(group.flows) for group in asked.traffic)
        return
    for group, told in zip(asked.traffic, outcome.classes, strict=True):
        assert told.goodput_bps.value > 0.0
        assert (told.fct_s is not None) == (group.kind in ("short", "session", "requests"))


def test_traffic_both_ways_loads_both_directions_and_clumps_the_acks():
    alone = run("queue.size=60 packets", seeds=(1, 2))
    two_way = SMALL + SMALL[SMALL.index("[[traffic]]") :] + 'direction = "reverse"\n'
    both = SimulationEngine().run(loads(two_way, overrides=["queue.size=60 packets"]), [1, 2])
    assert set(both.links) == {"bottleneck", "reverse"}
    forward, reverse = (both.links[name].utilization for name in ("bottleneck", "reverse"))
    assert forward.value > 0.7 and reverse.value > 0.7
    # ACKs that queue behind data arrive in clumps, and the link idles between (Zhang et al. 1991).
    undisturbed = alone.links["bottleneck"].utilization
    assert forward.value < undisturbed.value


@pytest.mark.parametrize("discipline", ["red", "pie", "codel", "fq_codel"])
def test_marks_instead_of_drops(discipline):
    sets = [f"queue.discipline={discipline}", "queue.size=100 packets", "queue.ecn=true"]
    spared = link_of(*sets, "traffic.0.ecn=true").loss_rate
    assert spared.value < link_of(*sets).loss_rate.value / 2


def test_dctcp_keeps_the_queue_at_its_threshold():
    link = link_of(
        "traffic.0.congestion_control=dctcp", "queue.discipline=red", "queue.size=200 packets",
        "queue.ecn=true", "queue.min=30 kB", "queue.max=30001 B", "queue.weight=1.0",
        "queue.probability=1.0",
    )  # fmt: skip
    assert link.utilization.value > 0.95
    assert link.queue_packets.p95.value < 60


def test_a_shared_memory_gives_a_lone_port_its_dynamic_threshold():
    link = link_of("memory=120 kB", "queue.alpha=1.0", "queue.size=1000 packets")
    # Half of the memory, less the packet on the wire.
    assert 30 <= link.queue_packets.p99.value <= 40


def test_a_discipline_that_refuses_its_parameters_says_so_in_one_line():
    low = ("queue.min=1000 B", "queue.max=3000 B")
    with refused("5 packets before bottleneck: red"):
        run("queue.discipline=red", "queue.size=5 packets", *low)


def test_a_run_in_which_no_flow_arrives_is_silence():
    link = link_of('traffic.0={kind="short", arrival_rate=0.001, length="2 packets"}')
    assert link.utilization.value == 0 and link.loss_rate is None


def test_round_trips_too_many_to_read_apart_are_refused_in_one_line():
    goal = "goals.utilization={at_least=0.5,probability=0.9}"
    with refused("6000000 round trips") as caught:
        run(goal, "traffic.0.rtt=10 us", "queue.size=1000 packets", "measure.duration=60 s")
    assert caught.value.field == "measure.duration"
