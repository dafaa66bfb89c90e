"""Flows that never send are not flows: readings, laws and words count those that do."""

from dataclasses import replace

import numpy as np
import pytest

import forebay
from forebay import Scenario, ScenarioError, laws
from forebay.engines.replication import readings
from forebay.engines.simulation.runs import make_run
from forebay.outcome import ClassOutcome, Outcome
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
    from forebay.scenario import loads

    return loads(SHORT_RUN, overrides=overrides)


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


def test_flows_that_all_start_in_time_are_all_active():
    seen = only_class(forebay.run(scenario("traffic.0.start=0 s")))
    assert active(seen) == 10 and seen.jain.value > 0.7


def test_the_mean_of_active_flows_is_over_the_seeds():
    each = [active(only_class(forebay.run(scenario(), seed=seed))) for seed in (1, 2)]
    assert active(only_class(forebay.run(scenario(), seeds=2))) == sum(each) / 2


def test_users_and_short_flows_are_active_where_they_send():
    short = '{kind="short",length="5 packets",arrival_rate=20.0,rtt="20 ms"}'
    outcome = forebay.run(scenario(f"traffic.0={short}"))
    rows = outcome.flows()
    assert active(only_class(outcome)) == np.count_nonzero(rows["window_bytes"] > 0)


def test_late_starts_are_said_with_the_flows_of_the_answer_s_seeds():
    (line,) = forebay.run(scenario()).late_starts
    assert line.startswith("9 of 10 flows of traffic.0 start after the warm-up of 1 s, 8 of them")
    (line,) = forebay.run(scenario(), seeds=2).late_starts
    assert "3 to 8 of them not before the run ends" in line
    assert forebay.run(scenario("traffic.0.start=1 s")).late_starts == ()


def test_a_flow_that_joins_is_not_refused_and_said_without_a_hint():
    joins = {"flows": 1, "start": "2 s", "rtt": "50 ms", "congestion_control": "bbr"}
    first = scenario("traffic.0.start=0 s").to_dict()["traffic"]
    outcome = forebay.run(scenario().replace({"traffic": [*first, joins]}))
    (line,) = outcome.late_starts
    assert line == (
        "1 of 1 flows of traffic.1 start after the warm-up of 1 s: they are measured from their "
        "start on"
    )
    assert active(outcome.classes[1]) == 1


def test_a_run_in_which_no_flow_starts_is_refused():
    with pytest.raises(ScenarioError, match=r"no flow starts before the run ends at 4 s \(seed"):
        for seed in range(1, 9):
            forebay.run(scenario("traffic.0.flows=1"), seed=seed)


def test_laws_count_the_flows_that_are_expected_to_start():
    late, few = scenario(), scenario("traffic.0.flows=4", "traffic.0.start=0 s")
    assert late.n_flows == few.n_flows == 4
    assert late.replace({"measure.duration": "9 s"}).n_flows == 10
    answers = [{law.law: law.packets for law in laws.for_scenario(each)} for each in (late, few)]
    assert answers[0] == answers[1]
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


def test_a_sizing_says_late_starts_too():
    answer = forebay.size(scenario("goals.utilization=0.5"), seeds=2)
    assert answer.late_starts and "start after the warm-up" in answer.late_starts[0]


def test_transfers_that_start_after_the_end_are_said_or_refused():
    listed = '{{kind="transfers",rtt="20 ms",transfers=[{}]}}'
    late, soon = '{start="20 s",size="10 kB"}', '{start="2 s",size="10 kB"}'
    with pytest.raises(ScenarioError, match="no transfer starts before the run ends at 4 s"):
        scenario(f"traffic.0={listed.format(late)}")
    outcome = forebay.run(scenario(f"traffic.0={listed.format(f'{late},{soon}')}"))
    assert outcome.late_starts == (
        "1 of 2 transfers of traffic.0 do not start before the run ends at 4 s: "
        "write a longer measure.duration",
    )
    assert forebay.run(scenario(f"traffic.0={listed.format(soon)}")).late_starts == ()


def test_flows_that_stop_within_the_warmup_are_said_and_have_no_state():
    outcome = forebay.run(scenario("traffic.0.start=0 s", "traffic.0.stop=0.5 s"))
    assert outcome.late_starts == (
        "all flows of traffic.0 stop by 500 ms, within the warm-up of 1 s: "
        "write a later stop, or a shorter measure.warmup",
    )
    assert active(only_class(outcome)) == 0 and only_class(outcome).settled is None
    assert forebay.run(scenario("traffic.0.start=0 s", "traffic.0.stop=3 s")).late_starts == ()


def test_a_window_that_may_have_no_transfer_says_so():
    rare = 'traffic.0={kind="short", length="10 packets", load=%s, rtt="20 ms"}'
    outcome = forebay.run(scenario(rare % 0.001))
    assert outcome.late_starts == (
        "a window of 3 s has 0.25 transfers of traffic.0 on average, and often none: write a "
        "longer measure.duration",
    )
    assert forebay.run(scenario(rare % 0.001), "theory").late_starts == ()
    assert forebay.run(scenario(rare % 0.5)).late_starts == ()


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
    assert forebay.run(scenario(drawn % '"20 kB"')).late_starts == ()
    uneven = scenario(drawn % '{cdf=[["1 kB", 0.9], ["50 kB", 1.0]]}')
    (line,) = forebay.run(uneven).late_starts
    assert "1 window of 3 s has" in line
    assert forebay.run(uneven, seeds=40).late_starts == ()
