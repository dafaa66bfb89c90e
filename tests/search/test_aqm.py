"""Under an AQM its aim is sized, and the limit stays as a guard."""

import pytest

import forebay
from forebay.outcome import SizeResult
from forebay.platforms import PlatformError, emit, lint, of_sizing
from forebay.report import print_size
from forebay.scenario import loads
from forebay.search.parameter import parameter_of

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


@pytest.mark.parametrize(
    ("discipline", "platform", "said"),
    [
        ("cake", "linux-tc", r"root cake besteffort flows rtt \d+us"),
        ("cobalt", "linux-tc", r"queue.discipline\W+cake"),
        ("red", "nx-os", "write linux-tc, or take"),
    ],
)
def test_what_a_platform_cannot_be_given_is_said(discipline, platform, said):
    answer = forebay.size(loads(UPLINK.format(discipline=discipline)), seeds=2, max_seeds=2, jobs=1)
    wanted, port = of_sizing(answer, "answer.json", force=True)
    with pytest.raises(PlatformError, match=said):
        emit(wanted, port, platform)


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
        assert asked.max is not None
        assert asked.max == 1.5 * asked.min
    answer = forebay.size(scenario, seeds=1, max_seeds=1, jobs=1)
    assert answer.aqm.parameter == "min"
    assert answer.aqm.max_bytes == 1.5 * answer.aqm.min_bytes < 600_000


STEP = """
link.rate = "100 Mbit/s"
queue = { discipline = "red", size = "500 packets", min = "30 kB", max = "30001 B", \
weight = 1.0, probability = 1.0, ecn = true }
measure = { warmup = "1 s", duration = "2 s" }
goals.utilization = 0.95
traffic = [{ flows = 8, rtt = "10 ms", start = "0 s", congestion_control = "dctcp", ecn = true }]
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
