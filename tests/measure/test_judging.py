"""A size that is on a port, judged by the port's counters."""

import json

import pytest

import forebay
from forebay.measure import MeasureError, judge
from forebay.measure.table import busiest, hours, read
from forebay.scenario import loads

RATE = 100e6
FULL = RATE / 8 * 300
"""Octets of a full link in five minutes."""
LINK = """
link.rate = "100 Mbit/s"
measure = { warmup = "5 s", duration = "10 s" }
traffic = [
  { flows = 40, rtt = { uniform = ["20 ms", "40 ms"] }, start = { uniform = ["0 s", "1 s"] } },
]
[goals]
utilization = 0.9
loss_rate = 0.02
"""


def sized(text=LINK):
    return forebay.size(loads(text), seeds=1, max_seeds=1)


@pytest.fixture(scope="module")
def answer():
    return sized()


@pytest.fixture
def day(tmp_path):
    """Write a day of five minutes each; ``load`` and ``lost`` by hour, 0.4 and 0.0 in others."""

    def write(load, lost=None, *, quiet=0.4, queue=None, first=1_764_115_200):
        rows, octets, drops = [], 0.0, 0.0
        for step in range(289):
            if step:
                hour = (step - 1) // 12
                used = load.get(hour, quiet)
                octets += used * FULL
                drops += round((lost or {}).get(hour, 0.0) * used * FULL / 1500)
            row = [first + 300 * step, round(octets), round(drops)]
            rows.append([*row, *([] if queue is None else [queue])])
        head = "time_s,octets,drops" + ("" if queue is None else ",queue_packets")
        path = tmp_path / "day.csv"
        path.write_text("\n".join([head, *(",".join(map(str, row)) for row in rows)]))
        return path

    return write


EVENING = {20: 0.97}
ALL = range(24)


def test_the_busiest_hour_is_named(day, answer):
    found = judge(day(EVENING), answer)
    assert found.busy_hour.when == "2025-11-26 20:00 to 21:00 UTC"
    assert found.busy_hour.utilization == pytest.approx(0.97)
    assert found.verdict == "as answered" and found.exit_status == 0
    assert len(found.hours) == 24 and found.hours[3].verdict == "not tested"


def test_an_hour_between_two_whole_ones_is_found(day):
    assert busiest(read(day({7: 0.9, 8: 0.9}, quiet=0.1), RATE)).seconds == 3600
    half = read(day({8: 0.9}, quiet=0.1, first=0), RATE)
    assert busiest(half).when == "8.00 h to 9.00 h"
    assert sum(each.seconds for each in hours(half)) == 86_400


@pytest.mark.parametrize(
    ("load", "lost", "verdict"),
    [
        (0.97, 0.05, "too small"),
        (0.97, 0.019, "as answered"),
        (0.5, 0.05, "too small"),
        (0.5, 0.0, "not tested"),
        (0.999, 0.2, "add capacity"),
        (0.0, 0.0, "not tested"),
    ],
)
def test_verdicts_by_load_and_loss(day, answer, load, lost, verdict):
    found = judge(day({20: load}, dict.fromkeys(ALL, lost), quiet=0.2 * load), answer)
    assert found.verdict == verdict
    assert found.exit_status == (verdict in ("too small", "add capacity"))
    if (load, lost) == (0.5, 0.05):
        assert "bursts overflow it although the link is not full" in found.why


def test_a_queue_above_the_goal_is_too_large(day):
    answer = sized(LINK.replace("0.02", "0.05") + 'queue_delay_mean = "2 ms"\n')  # 24 packets
    found = judge(day(EVENING, queue=20), answer)  # 2.4 ms
    assert found.verdict == "too large" and "2.4 ms on average, above the goal" in found.why
    assert any("17 packets in the queue" in line for line in found.alarms)
    assert judge(day(EVENING, queue=12), answer).verdict == "as answered"


def test_the_alarms_are_for_the_table_s_own_interval(day, answer):
    (drops, octets) = judge(day(EVENING), answer).alarms
    assert f"more than {round(0.02 * FULL / 1500)} drops" in drops and "every 300 s" in drops
    assert f"below {round(0.81 * FULL)} octets" in octets


def test_the_command_line(day, answer, tmp_path, printed):
    saved = tmp_path / "answer.json"
    saved.write_text(answer.to_json())
    judged = f"measure --counters {day(EVENING, {20: 0.05})} --answer {saved}"
    out = printed(judged, status=1)
    assert "too small" in out and "2025-11-26 20:00 to 21:00 UTC" in out
    document = json.loads(printed(f"{judged} --json", status=1))
    assert document["verdict"] == document["busy_hour"]["verdict"] == "too small"


def test_an_answer_without_a_size_is_refused(day, answer):
    none = answer.model_copy(update={"recommended": None, "reason": "no buffer meets the goals"})
    with pytest.raises(MeasureError, match="recommends no size"):
        judge(day(EVENING), none)
    with pytest.raises(MeasureError, match=r"no size of a queue: it sizes link\.shaper\.burst"):
        judge(day(EVENING), answer.model_copy(update={"of": "link.shaper.burst"}))
    with pytest.raises(MeasureError, match="octets exceed"):
        judge(day(EVENING), answer, rate="10 Mbit/s")


def test_estimates_of_the_busiest_hour_alone(day):
    """Over the day the link is 42 % used, and n is refused; in its busiest hour it is not."""
    table = day(EVENING, dict.fromkeys(ALL, 0.01))
    whole, busy = (
        forebay.measure.counters(table, rate="100 Mbit/s", rtt="20 ms..40 ms", busy_hour=alone)
        for alone in (False, True)
    )
    assert "long_flows" not in whole.estimates and "long_flows" in busy.estimates
    assert busy.estimates["load"].value == pytest.approx(0.97)
    assert any("busiest hour alone: 2025-11-26 20:00" in note for note in busy.notes)
    assert busy.scenario().traffic[0].kind == "long"


@pytest.mark.parametrize(("share", "verdict"), [(1.0, "as answered"), (0.1, "too small")])
def test_a_port_that_was_simulated(day, answer, share, verdict):
    """The counters of the same traffic behind the recommended size, and behind a tenth of it."""
    packets = max(1, round(share * answer.recommended.packets))
    seen = forebay.run(loads(LINK).with_buffer(packets), seed=7).links["bottleneck"]
    table = day({9: seen.utilization.value}, {9: seen.loss_rate.value}, quiet=0.1)
    assert judge(table, answer).verdict == verdict


def test_a_queue_above_the_size_is_another_size(day, answer):
    size = answer.recommended.packets
    found = judge(day(EVENING, queue=2 * size), answer)
    assert found.verdict == "too large"
    assert f"a full queue of {size} packets: the router has a larger one" in found.why
    assert judge(day(EVENING, queue=size), answer).verdict == "as answered"


def test_drops_at_a_half_full_link_are_not_called_unneeded(day, answer):
    found = judge(day({}, dict.fromkeys(ALL, 0.015), quiet=0.5), answer)
    assert found.verdict == "not tested"
    assert "hardly ever needed" not in found.why and "not above 2 %" in found.why


def test_of_rows_longer_than_an_hour_the_busiest_is_judged(tmp_path, answer):
    octets, rows = 0.0, ["time_s,octets,drops", "0,0,0"]
    for step in range(12):
        octets += (0.97 if step == 7 else 0.3) * 24 * FULL
        rows.append(f"{7200 * (step + 1)},{octets:.0f},0")
    table = tmp_path / "slow.csv"
    table.write_text("\n".join(rows))
    found = judge(table, answer)
    assert (found.verdict, found.busy_hour.when) == ("as answered", "14.00 h to 16.00 h")
    assert "in the busiest row, which is longer than an hour, 14.00 h" in found.why


def test_an_hour_that_loses_more_than_the_busiest_decides(day, answer):
    """Backups at night: bursts overflow a queue that the evening never tests."""
    found = judge(day(EVENING, {3: 0.06}), answer)
    assert found.verdict == "too small" and found.exit_status == 1
    assert "03:00 to 04:00" in found.lossy_hour.when
    assert found.why.startswith("in an hour that is not the busiest, 2025-11-26 03:00 to 04:00 UTC")
    assert "bursts overflow it although the link is not full" in found.why
    assert "in the busiest hour, 2025-11-26 20:00 to 21:00 UTC" in found.why
    assert found.to_dict()["lossy_hour"]["verdict"] == "too small"


def test_a_few_drops_of_a_quiet_hour_decide_nothing(day, answer):
    quiet = judge(day(EVENING, {3: 0.05}, quiet=1e-5), answer)
    assert quiet.verdict == "as answered" and quiet.lossy_hour is None
