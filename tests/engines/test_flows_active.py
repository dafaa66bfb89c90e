"""Flows that never send are not flows, and those that have not settled have no interval.

Readings, laws and words count those that send; `run` says what the others need, or measures later.
"""

from dataclasses import replace

import numpy as np
import pytest
from tests.refused import refused

import forebay
from forebay import Scenario
from forebay.engines.replication import readings
from forebay.engines.simulation.runs import make_run
from forebay.outcome import ClassOutcome, Outcome
from forebay.scenario import loads
from forebay.workload import draw

SHORT_RUN = """
link.rate = "10 Mbit/s"
queue.size = "40 packets"
measure = { warmup = "1 s", duration = "3 s" }
[[traffic]]
flows = 10
congestion_control = "cubic"
rtt = { uniform = ["20 ms", "80 ms"] }
start = { uniform = ["0 s", "10 s"] }
"""


def scenario(*overrides: str) -> Scenario:
    return loads(SHORT_RUN, overrides=overrides)


def late_starts(*overrides: str, engine: str = "simulation", seeds: int = 1) -> tuple[str, ...]:
    return forebay.run(scenario(*overrides), engine, seeds=seeds).late_starts


def only_class(outcome: Outcome) -> ClassOutcome:
    (found,) = outcome.classes
    return found


def active(of: ClassOutcome) -> float:
    return of.flows_active.value


def test_only_flows_that_sent_in_the_window_are_active_and_make_jain_s_index():
    outcome = forebay.run(scenario())
    rows = outcome.flows()
    sent = rows["window_bytes"] > 0
    seen = only_class(outcome)
    assert seen.flows == 10 and active(seen) == np.count_nonzero(sent) < 10
    got = rows["window_bytes"][sent].astype(float)
    assert seen.jain.value == pytest.approx(got.sum() ** 2 / (got.size * (got**2).sum()))
    short = '{kind="short",length="5 packets",arrival_rate=20.0,rtt="20 ms"}'
    outcome = forebay.run(scenario(f"traffic.0={short}"))
    rows = outcome.flows()
    assert active(only_class(outcome)) == np.count_nonzero(rows["window_bytes"] > 0)


def test_all_in_time_are_active_and_the_mean_is_over_the_seeds():
    seen = only_class(forebay.run(scenario("traffic.0.start=0 s")))
    assert active(seen) == 10 and seen.jain.value > 0.7
    each = [active(only_class(forebay.run(scenario(), seed=seed))) for seed in (1, 2)]
    assert active(only_class(forebay.run(scenario(), seeds=2))) == sum(each) / 2


def test_late_starts_are_said_with_the_flows_of_the_answer_s_seeds():
    (line,) = late_starts()
    assert line.startswith("9 of 10 flows of traffic.0 start after the warm-up of 1 s, 8 of them")
    (line,) = late_starts(seeds=2)
    assert "3 to 8 of them not before the run ends" in line
    assert late_starts("traffic.0.start=1 s") == ()
    (line,) = late_starts('traffic.0.start={values=["1 s", "4 s"]}')
    assert line.startswith("8 of 10 flows of traffic.0 start after the warm-up of 1 s, 8 of them")
    answer = forebay.size(scenario("goals.utilization=0.5"), seeds=2)
    assert answer.late_starts and "start after the warm-up" in answer.late_starts[0]


def test_a_flow_that_joins_is_not_refused_and_said_without_a_hint():
    joins = {"flows": 1, "start": "2 s", "rtt": "50 ms", "congestion_control": "bbr"}
    first = scenario("traffic.0.start=0 s").to_dict()["traffic"]
    outcome = forebay.run(scenario().replace({"traffic": [*first, joins]}))
    (line,) = outcome.late_starts
    assert line.endswith("they are measured from their start on")
    assert active(outcome.classes[1]) == 1


def test_without_a_warm_up_a_start_that_nobody_wrote_is_late_and_the_line_says_what_to_write():
    begins = {"flows": 2, "rtt": "50 ms"}
    asked = scenario("measure.warmup=0 s").replace({"traffic": [begins]})
    assert forebay.run(asked).late_starts == (
        "2 of 2 flows of traffic.0 start after the warm-up of 0 s: write a start of 0 s, or a "
        "longer measure.warmup",
    )


def test_a_run_in_which_no_flow_starts_is_refused():
    with refused(r"no flow starts before the run ends at 4 s \(seed"):
        for seed in range(1, 9):
            forebay.run(scenario("traffic.0.flows=1"), seed=seed)


def test_laws_count_the_flows_that_are_expected_to_start():
    late, few = scenario(), scenario("traffic.0.flows=4", "traffic.0.start=0 s")
    assert late.n_flows == few.n_flows == 4
    assert late.replace({"measure.duration": "9 s"}).n_flows == 10
    size = scenario("queue.size=1 bdp/sqrt(n)")
    assert size.buffer_packets == few.replace({"queue.size": "1 bdp/sqrt(n)"}).buffer_packets
    seen = only_class(forebay.run(late, "theory"))
    assert active(seen) == pytest.approx(4)


def test_a_starved_long_flow_counts_in_jain_s_index():
    asked = scenario("traffic.0.start=0 s")
    _, workload, _ = make_run(asked, 1)
    assert readings._had_to_send(asked, workload).all()
    late = replace(workload, start_ps=workload.start_ps + 2 * 10**12)
    assert not readings._had_to_send(asked, late).any()


def test_transfers_that_start_after_the_end_are_said_or_refused():
    listed = '{{kind="transfers",rtt="20 ms",transfers=[{}]}}'
    late, soon = '{start="20 s",size="10 kB"}', '{start="2 s",size="10 kB"}'
    with refused("no transfer starts before the run ends at 4 s"):
        scenario(f"traffic.0={listed.format(late)}")
    at_the_end = late.replace("20 s", "4 s")
    assert late_starts(f"traffic.0={listed.format(f'{late},{at_the_end},{soon}')}") == (
        "2 of 3 transfers of traffic.0 do not start before the run ends at 4 s: "
        "write a longer measure.duration",
    )
    assert late_starts(f"traffic.0={listed.format(soon)}") == ()


def test_flows_that_stop_within_the_warmup_are_said_and_have_no_state():
    outcome = forebay.run(scenario("traffic.0.start=0 s", "traffic.0.stop=0.5 s"))
    (line,) = outcome.late_starts
    assert "within the warm-up of 1 s" in line
    assert active(only_class(outcome)) == 0 and only_class(outcome).settled is None
    assert late_starts("traffic.0.start=0 s", "traffic.0.stop=3 s") == ()


@pytest.mark.parametrize("sizes", ["web-search", "data-mining", "hadoop"])
def test_few_large_transfers_leave_a_load_to_chance_as_the_draws_do(sizes):
    drawn = f'traffic.0={{kind="transfers", size="{sizes}", load=0.3, rtt="2 ms"}}'
    fast = ("link.rate=10 Gbit/s", "queue.size=1000 packets", "measure.warmup=0 s")
    of_runs = scenario(*fast, drawn, "measure.duration=2 s")
    loads = [
        float((each.segments.astype(float) * each.packet_bytes).sum()) * 8 / 2 / 10e9
        for each in (draw(of_runs, seed) for seed in range(1, 101))
    ]
    (line,) = forebay.run(of_runs).late_starts
    said = float(line.split("about ")[1].split(" %")[0]) / 100
    assert 1.96 * np.std(loads) / 0.3 == pytest.approx(said, rel=0.25)
    assert line.startswith("the load of traffic.0 may be off by about ")


def test_equal_sizes_and_many_transfers_have_their_load():
    drawn = 'traffic.0={kind="transfers", size=%s, load=0.3, rtt="2 ms"}'
    assert late_starts(drawn % '"20 kB"') == ()
    uneven = drawn % '{cdf=[["1 kB", 0.9], ["50 kB", 1.0]]}'
    (line,) = late_starts(uneven)
    assert "1 window of 3 s has" in line
    assert late_starts(uneven, seeds=40) == ()
    rare = 'traffic.0={kind="short", length="10 packets", load=0.001, rtt="20 ms"}'
    assert late_starts(rare) and late_starts(rare, engine="theory") == ()


def flow(rate: str, buffer: str, control: str, more: str = "", rtt: str = "65 ms") -> Scenario:
    return loads(
        f'[link]\nrate = "{rate}"\n[queue]\nsize = "{buffer}"\n[[traffic]]\nflows = 1\n'
        f'rtt = "{rtt}"\ncongestion_control = "{control}"\n{more}\n'
    )


def settled(outcome: Outcome) -> list[bool | None]:
    return [each.settled for each in outcome.classes]


CLIMBING = flow("500 Mbit/s", "500 kB", "reno")


@pytest.mark.parametrize(
    "asked",
    [
        CLIMBING,
        flow("5 Gbit/s", "500 kB", "reno"),
        flow("50 Mbit/s", "500 kB", "reno", rtt="600 ms"),
        flow("1 Gbit/s", "7 s", "cubic"),
        flow("500 Mbit/s", "500 kB", "scalable", '[measure]\nwarmup = "1 s"\nduration = "10 s"'),
    ],
)
def test_a_flow_without_a_steady_state_has_no_interval(asked):
    outcome = forebay.run(asked)
    assert settled(outcome) == [False]
    link, only = outcome.links["bottleneck"], outcome.classes[0]
    assert link.utilization.low is None and only.goodput_bps.high is None
    assert only.unsettled.startswith("not settled: warm-up of about ")
    assert Outcome.from_dict(outcome.to_dict()) == outcome


@pytest.mark.parametrize(
    "asked",
    [
        flow("5 Mbit/s", "30 packets", "reno"),
        flow("5 Mbit/s", "30 packets", "cubic"),
        flow("5 Mbit/s", "60 packets", "bbr", '[measure]\nwarmup = "45 s"'),
        flow("500 Mbit/s", "500 kB", "reno", "max_window = 100"),
        flow("500 Mbit/s", "500 kB", "cubic", 'access_rate = "10 Mbit/s"\nmax_window = 60'),
    ],
)
def test_a_settled_flow_has_its_interval(asked):
    outcome = forebay.run(asked)
    assert settled(outcome) == [True]
    assert outcome.classes[0].unsettled is None
    assert outcome.links["bottleneck"].utilization.low is not None


def test_a_class_that_does_not_last_is_not_judged():
    udp = 'traffic.0={kind="udp", flows=3, load=0.5}'
    assert settled(forebay.run(scenario(udp))) == [None]


def test_with_a_budget_the_window_is_lengthened_until_flows_have_settled():
    outcome = forebay.run(CLIMBING, budget="60 s")
    assert settled(outcome) == [True]
    assert outcome.links["bottleneck"].utilization.value == pytest.approx(0.83, abs=0.04)
    assert outcome.provenance.model_extra["cost"]["spent_s"] < 60.0


def test_a_window_that_the_scenario_sets_is_kept():
    more = 'offload = "off"\n[measure]\nwarmup = "20 s"\nduration = "40 s"'
    outcome = forebay.run(flow("500 Mbit/s", "500 kB", "reno", more), budget="60 s")
    assert settled(outcome) == [False]
    assert outcome.links["bottleneck"].utilization.value == pytest.approx(0.318, abs=0.02)


def test_a_sizing_over_a_window_that_is_set_says_nothing_of_flows_that_have_settled():
    window = ("measure.warmup=10 s", "measure.duration=20 s")
    asked = scenario("link.rate=20 Mbit/s", "traffic.0.start=0 s", "goals.utilization=0.9", *window)
    found = forebay.size(asked, seeds=2, max_seeds=2)
    assert not any("not settled" in note for note in found.notes)
