"""PLAN.json agrees with the scenario and the draw; routes have the settings of each class."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.scenarios import scenario

from forebay.engines import Unsupported
from forebay.engines.replication.layout import lay_out
from forebay.engines.replication.readings import Watched
from forebay.engines.testbed import endpoint, plan
from forebay.engines.testbed.plan import Places, broken, largest_packet, make_plan
from forebay.scenario import loads
from forebay.workload import draw

MIXED = """
link.rate = "50 Mbit/s"
queue = { size = "60 packets", discipline = "red", ecn = true, gentle = true }
measure = { warmup = "1 s", duration = "4 s" }
traffic = [
  { flows = 5, congestion_control = { cubic = 0.6, "cubic-beta-0.8" = 0.4 }, ecn = true, \
    initial_window = 3, min_rto = "250 ms" },
  { flows = 3, direction = "reverse", delayed_ack = false, max_window = 12 },
  { kind = "session", flows = 2, file = "20 packets" },
  { kind = "udp", flows = 1, rate = "1 Mbit/s", packet = "2000 B" },
]
"""
PLACES = Places("forebay-1-0-send", "forebay-1-0-recv", Path("/tmp/r.json"))


def made(changes=None):
    return loads(MIXED).replace(changes or {})


def plan_of(changes=None, **more):
    scenario = made(changes)
    workload = draw(scenario, 7)
    return scenario, workload, make_plan(scenario, workload, lay_out(scenario), PLACES, **more)


def test_a_plan_is_json_and_holds_the_draw():
    _, workload, plan = plan_of()
    assert json.loads(json.dumps(plan)) == plan
    assert plan["schema"] == 1 and plan["seed"] == workload.tie_break_seed
    assert (plan["warmup_ps"], plan["window_ps"], plan["batches"]) == (10**12, 4 * 10**12, 20)
    assert {len(array) for array in plan["flows"].values()} == {len(workload)}
    assert plan["flows"]["rtt_ps"] == workload.rtt_ps.tolist()
    assert plan["sender"]["netns"].endswith("/forebay-1-0-send")
    assert [each["kind"] for each in plan["classes"]] == ["long", "long", "session", "udp"]
    assert plan["sessions"]["offsets"][-1] == len(plan["sessions"]["think_ps"])
    assert plan["packets"]["offsets"][-1] == len(plan["packets"]["bytes"])
    # Shared access links stay the router's own, and controls have the kernel's names.
    assert np.array_equal(plan["flows"]["access_group"], workload.access_group)
    names = dict(zip(workload.congestion_controls, plan["congestion_controls"], strict=True))
    assert names["cubic"] == "cubic" and names["cubic-beta-0.8"] == "fb_cubic08"
    assert largest_packet(workload) == 2000
    _, _, traced = plan_of(watched=Watched(0.01, (0, 4)))
    assert plan["trace"] is None and traced["trace"] == {"step_ps": 10**10, "flows": [0, 4]}


def test_links_and_routes_are_those_of_the_scenario():
    _, _, plan = plan_of()
    assert [link["name"] for link in plan["links"]] == ["bottleneck", "reverse"]
    assert plan["routes"] == [[[0], [1]], [[1], [0]], [[0], [1]], [[0], [1]]]
    assert [each["last_link"] for each in plan["classes"]] == [0, 1, 0, 0]
    assert [each["reverse"] for each in plan["classes"]] == [False, True, False, False]
    link = plan["links"][0]
    assert (link["buffer_packets"], link["discipline"]) == (60, "red")
    assert link["parameters"] == {"ecn": 1.0, "gentle": 1.0}, "flags are numbers for the emulator"


def test_class_queues_are_those_of_the_scenario():
    voice = {"name": "voice", "traffic": ["udp-3"], "priority": 2, "size": "9 packets"}
    rest = {"name": "rest", "default": True, "weight": 3.0, "red": {"ecn": True}}
    classes = {"discipline": "classes", "size": "60 packets", "classes": [voice, rest]}
    _, _, plan = plan_of({"queue": classes})
    link = plan["links"][0]
    assert link["discipline"] == "classes" and link["class_of"] == [1, 1, 1, 0]
    voice, rest = link["classes"]
    assert voice["discipline"] == "pfifo" and rest["parameters"] == {"ecn": 1.0}
    assert (voice["buffer_packets"], rest["buffer_packets"]) == (9, 60)
    assert voice["priority"] < rest["priority"] and rest["weight"] == 3.0


def test_a_links_own_loss_rates_and_jitter_are_those_of_the_scenario():
    _, _, plan = plan_of({
        "link.loss": {"good_to_bad": 0.1, "bad_to_good": 0.5, "unit": "byte"},
        "link.jitter": "2 ms",
        "link.down": {"times": [["1 s", "2 s"]], "period": "4 s", "queue": "drop"},
    })  # fmt: skip
    link, plain = plan["links"][0], plan_of()[2]["links"][0]
    assert link["loss"] == {
        "in_good": 0.0, "in_bad": 1.0, "good_to_bad": 0.1, "bad_to_good": 0.5,
        "unit": "byte", "place": "after-queue",
    }  # fmt: skip
    jitter = {"most_ps": 2 * 10**9, "share": 1.0, "reorders": False}
    assert link["jitter"] == jitter and link["drops_while_down"]
    rates = link["rate_trace"]
    assert rates["period_ps"] == 4 * 10**12 and rates["repeats"]
    assert [(start, rate == 0) for start, rate in rates["steps"]] == [
        (0, False), (10**12, True), (2 * 10**12, False)
    ]  # fmt: skip
    assert (plain["loss"], plain["rate_trace"], plain["jitter"]) == (None, None, None)


@pytest.mark.parametrize(
    ("off", "sides"),
    [((), (True, True)), ((1,), (True, False)), ((0, 2), (False, True)), ((0, 1, 2), (False,) * 2)],
)
def test_offload_is_of_the_side_that_sends(off, sides):
    _, _, plan = plan_of({f"traffic.{each}.offload": "off" for each in off})
    assert (plan["sender"]["offload"], plan["receiver"]["offload"]) == sides


def test_routes_cover_exactly_the_flows_of_their_class(monkeypatch):
    scenario, workload, _ = plan_of()
    left, right = endpoint.routes(scenario, workload)

    def flows(routes, network):
        base = int(network[0])
        return {int(ip) - base: each.metrics for each in routes for ip in each.network}

    sending = {"features": 1, "initcwnd": 3, "rto_min": 250, "lock": 1 << 13}
    first = dict.fromkeys(range(5), sending)
    second = {flow: {"quickack": 1} for flow in range(5, 8)}
    # The second class sends the other way, so its receivers, which hurry their ACKs, are left.
    assert flows(left, endpoint.RECEIVERS) == first | second
    assert flows(right, endpoint.SENDERS) == {flow: {"features": 1} for flow in range(5)}
    monkeypatch.setattr(endpoint, "MOST_FLOWS", 5)
    with pytest.raises(Unsupported, match="11 flows, more than 5"):
        endpoint.routes(scenario, workload)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("sender", "ns2", "the testbed's senders are Linux .*, not ns2$"),
        ("sack", False, "SACK is one switch"),
        ("jitter", "1 ms", "jitter"),
        ("delayed_ack_timeout", "100 ms", "cannot set delayed_ack_timeout"),
        ("segment", 536, "no segment"),
    ],
)
def test_what_the_kernel_does_otherwise_is_said(option, value, said):
    (line,) = map(str, broken(made({f"traffic.0.{option}": value, "traffic.0.offload": "on"})))
    assert re.search(said, line)


def test_sack_is_off_only_where_every_class_says_so():
    alone = scenario({"traffic.0.sack": False})
    assert not plan.has_sack(alone) and broken(alone) == []
    assert plan.has_sack(made()) and broken(made()) == []


def test_a_shaped_link_has_the_wire_s_rate_and_its_buckets():
    *_, plan = plan_of({
        "link.shaper": {"rate": "20 Mbit/s", "refill": "deficit"},
        "link.policer": {"rate": "30 Mbit/s", "burst": "9 kB", "excess": "3 kB"},
    })  # fmt: skip
    link = plan["links"][0]
    assert link["rate_bps"] == 50e6
    assert link["shaper"] == {
        "rate_bps": 20e6, "burst_bytes": 2000, "excess_bytes": 0, "refill": "deficit",
    }  # fmt: skip
    assert link["policer"] == {
        "rate_bps": 30e6, "burst_bytes": 9000, "excess_bytes": 3000, "refill": "continuous",
    }  # fmt: skip
    *_, plain = plan_of()
    assert plain["links"][0]["shaper"] is None
