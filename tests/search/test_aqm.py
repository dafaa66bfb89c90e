"""Under an AQM its aim is sized, and the limit stays as a guard."""

import re

import pytest

import forebay
from forebay.outcome import SizeResult
from forebay.platforms import PlatformError, emit, lint, of_sizing
from forebay.report import print_size
from forebay.scenario import loads
from forebay.search.parameter import notes_of, parameter_of

UPLINK = """
link.rate = "20 Mbit/s"
queue.discipline = "{discipline}"
queue.size = "50 packets"
measure = {{ warmup = "2 s", duration = "4 s" }}
goals = {{ utilization = 0.8, queue_delay_p99 = "400 ms" }}
[[traffic]]
flows = 10
rtt = {{ uniform = ["20 ms", "120 ms"] }}
start = {{ uniform = ["0 s", "10 s"] }}
"""


@pytest.mark.parametrize("discipline", ["codel", "fq_codel", "pie", "dualpi2", "cobalt"])
def test_a_target_is_turned_and_the_limit_is_out_of_its_way(discipline):
    scenario = loads(UPLINK.format(discipline=discipline))
    parameter = parameter_of(scenario, "simulation", 500)
    asked = parameter.set(scenario, 10)
    assert float(asked.queue.target or 0) == pytest.approx(10 * 1500 * 8 / 20e6)
    assert asked.buffer_packets == 500 and asked.queue.discipline == discipline
    assert asked.queue.interval == scenario.queue.interval


def test_red_is_turned_by_its_thresholds():
    scenario = loads(UPLINK.format(discipline="red"))
    asked = parameter_of(scenario, "simulation", 500).set(scenario, 10)
    assert (int(asked.queue.min or 0), int(asked.queue.max or 0)) == (15_000, 45_000)
    least = parameter_of(scenario, "simulation", 500).set(scenario, 1)
    assert int(least.queue.min or 0) == 3000  # 2 packets: no weight lets a smaller burst pass


def test_cake_is_turned_by_its_rtt():
    scenario = loads(UPLINK.format(discipline="cake"))
    parameter = parameter_of(scenario, "simulation", 500)
    asked = parameter.set(scenario, 10)
    assert float(asked.queue.rtt or 0) == pytest.approx(20 * 10 * 1500 * 8 / 20e6)
    assert asked.queue.target is None and asked.buffer_packets == 500
    aqm = parameter.describe(10)
    assert aqm.parameter == "target" and aqm.interval_s == pytest.approx(20 * aqm.target_s)


@pytest.mark.parametrize(
    ("discipline", "said"),
    [("cake", r"root cake besteffort flows rtt \d+us"), ("cobalt", r"queue.discipline\W+cake")],
)
def test_what_tc_cannot_be_given_with_a_limit_is_said(discipline, said):
    answer = forebay.size(loads(UPLINK.format(discipline=discipline)), seeds=2, max_seeds=2, jobs=1)
    wanted, port = of_sizing(answer, "answer.json", force=True)
    with pytest.raises(PlatformError) as error:
        emit(wanted, port, "linux-tc")
    assert re.search(said, str(error.value.hint))


def test_unlimited_is_a_queue_that_drops_nothing_early():
    scenario = loads(UPLINK.format(discipline="red"))
    asked = parameter_of(scenario, "simulation", 500).unlimited(scenario, 9999)
    assert asked.queue.discipline == "drop-tail" and asked.queue.parameters == {}
    assert asked.buffer_packets == 9999


@pytest.mark.parametrize(
    ("discipline", "engine"), [("drop-tail", "simulation"), ("codel", "theory")]
)
def test_elsewhere_the_limit_is_sized(discipline, engine):
    scenario = loads(UPLINK.format(discipline=discipline))
    parameter = parameter_of(scenario, engine, 500)
    assert parameter.guard_packets is None and parameter.set(scenario, 10).buffer_packets == 10
    said = notes_of(scenario, engine, parameter)
    assert bool(said) == (discipline == "codel") and all("drop-tail" in line for line in said)


def test_an_interval_below_the_longest_round_trip_is_said():
    scenario = loads(UPLINK.format(discipline="codel"))
    (line,) = notes_of(scenario, "simulation", parameter_of(scenario, "simulation", 500))
    assert "interval, 100 ms, is shorter than the longest round trip, 120 ms" in line
    longer = loads(UPLINK.format(discipline="codel"), overrides=["queue.interval=200 ms"])
    assert notes_of(longer, "simulation", parameter_of(longer, "simulation", 500)) == []


@pytest.mark.parametrize("discipline", ["red", "pie", "codel", "fq_codel", "dualpi2"])
def test_what_is_sized_is_said_and_emitted(discipline, capsys):
    scenario = loads(UPLINK.format(discipline=discipline))
    answer = forebay.size(scenario, seeds=3, max_seeds=6, jobs=1)
    aqm = answer.to_dict()["aqm"]
    assert aqm["discipline"] == discipline and aqm["limit_packets"] > 100
    wanted, port = of_sizing(answer, "answer.json", force=True)
    made = emit(wanted, port, "linux-tc")
    aim = "min" if discipline == "red" else f"target {round(1e6 * aqm.get('target_s', 0))}us"
    assert f"root {discipline} limit" in made.text and aim in made.text
    assert lint(made.text, port, wanted=wanted).exit_status == 0
    with pytest.raises(
        PlatformError, match=f"the queue is {discipline}, which cannot be written for junos"
    ):
        emit(wanted, port, "junos")


def test_the_report_names_the_target(tmp_path, capsys):
    answer = forebay.size(loads(UPLINK.format(discipline="codel")), seeds=2, max_seeds=2, jobs=1)
    print_size(SizeResult.from_json(answer.to_json()))
    out = " ".join(capsys.readouterr().out.split())
    assert "Recommended: codel target " in out and "as a guard" in out and "Law: " not in out


def test_thresholds_that_miss_a_goal_keep_their_ratio():
    own = ["queue.min=400 kB", "queue.max=600 kB", "goals.utilization=0.5",
           "goals.queue_delay_p99=40 ms"]  # fmt: skip
    scenario = loads(UPLINK.format(discipline="red"), overrides=own)
    parameter = parameter_of(scenario, "simulation", 500)
    for packets in (2, 7, 100):
        asked = parameter.set(scenario, packets).queue
        assert asked.min is not None and asked.max is not None
        assert asked.max == 1.5 * asked.min
    answer = forebay.size(scenario, seeds=1, max_seeds=1, jobs=1)
    assert answer.aqm.parameter == "min"
    assert answer.aqm.max_bytes == 1.5 * answer.aqm.min_bytes < 600_000


def test_red_of_a_class_queue_says_below_which_size_it_does_nothing():
    one = {"name": "one", "default": True, "red": {"min": "60 kB"}}
    classes = {"queue.discipline": "classes", "queue.classes": [one]}
    scenario = loads(UPLINK.format(discipline="drop-tail")).replace(classes)
    notes = notes_of(scenario, "simulation", parameter_of(scenario, "simulation", 500))
    assert any("RED of one acts above an average of 60000 B" in each for each in notes)


STEP = """
link.rate = "100 Mbit/s"
queue.discipline = "red"
queue.size = "500 packets"
queue.min = "30 kB"
queue.max = "30001 B"
queue.weight = 1.0
queue.probability = 1.0
queue.ecn = true
measure = { warmup = "1 s", duration = "2 s" }
goals.utilization = 0.95
[[traffic]]
flows = 8
rtt = "10 ms"
start = "0 s"
congestion_control = "dctcp"
ecn = true
"""


@pytest.mark.parametrize("platform", ["nx-os", "sonic", "linux-tc"])
def test_a_step_is_sized_as_a_step_and_written(platform):
    scenario = loads(STEP)
    parameter = parameter_of(scenario, "simulation", 500)
    asked = parameter.set(scenario, 20)
    assert (int(asked.queue.min or 0), int(asked.queue.max or 0)) == (30_000, 30_001)
    answer = forebay.size(scenario, seeds=1, max_seeds=1, jobs=1)
    assert answer.aqm.parameter == "min" and answer.aqm.is_step
    wanted, port = of_sizing(answer, "answer.json", force=True)
    made = emit(wanted, port, platform)
    assert str(answer.aqm.min_bytes) in made.text or platform == "linux-tc"
    assert "ecn" in made.text
    assert lint(made.text, port, platform=platform, wanted=wanted).exit_status == 0
    if platform != "linux-tc":
        assert any("PFC is not modelled" in each.text for each in made.notes)


def test_red_that_is_no_step_is_for_linux_alone():
    answer = forebay.size(loads(UPLINK.format(discipline="red")), seeds=1, max_seeds=1, jobs=1)
    wanted, port = of_sizing(answer, "answer.json", force=True)
    with pytest.raises(PlatformError, match="write linux-tc, or take"):
        emit(wanted, port, "nx-os")
