"""A link whose rate follows a trace, against sums by hand."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import forebay
from forebay.outcome.metrics import utilization
from forebay.report.tables import rate_lines
from forebay.scenario import Scenario, ScenarioError, loads

STEPS = '{ steps = [["0 s", "12 Mbit/s"], ["2 s", "6 Mbit/s"]] }'
UDP = f"""
link.rate_trace = {STEPS}
queue.size = "1000 packets"
measure = {{ warmup = "4 s", duration = "8 s" }}
[[traffic]]
kind = "udp"
flows = 1
rate = "8 Mbit/s"
start = "0 s"
"""


def with_trace(text: str, path: Path) -> Scenario:
    path.write_text(text, encoding="utf-8")
    return loads(UDP).replace({"link.rate_trace": str(path)})


def test_capacity_and_sizes_are_of_the_mean():
    scenario = loads(UDP).replace({"queue.size": "10 ms"})
    assert scenario.link.capacity == scenario.link.rate == 9e6
    assert scenario.buffer_packets == 8  # 10 ms of 9 Mbit/s are 7.5 packets


def test_a_full_link_sends_all_that_its_rate_allows():
    full = loads(UDP).replace({"traffic.0.rate": "24 Mbit/s", "queue.size": "50 packets"})
    for discipline in ("drop-tail", "red", "fq_codel", "cake"):
        outcome = forebay.run(full.replace({"queue.discipline": discipline}), seed=1)
        assert outcome.links["bottleneck"].utilization.value == pytest.approx(1, abs=1e-4)
        assert outcome.classes[0].throughput_bps.value == pytest.approx(9e6, rel=1e-3)


def test_a_queue_grows_in_the_slow_step_and_shrinks_in_the_fast_one():
    """8 Mbit/s into 6 for 2 s: 333 packets wait; 12 Mbit/s sends them in 1 s. Triangles.

    Over 4 s the mean is 333 (2 s + 1 s) / 2 / 4 s = 125. The packet that arrives at 3.5 s is the
    last that leaves by 4 s: it waits longest, 0.5 s.
    """
    link = forebay.run(loads(UDP), seed=1).links["bottleneck"]
    assert link.queue_packets.mean.value == pytest.approx(125, abs=1)
    assert link.queue_delay_s.p99.value == pytest.approx(0.5, abs=0.02)
    assert link.utilization.value == pytest.approx(8 / 9, abs=1e-3)
    assert link.loss_rate.value == 0.0


def test_utilization_is_of_what_the_window_lets_pass():
    """A window of the fast step alone: 8 of 12 Mbit/s, although the mean is 9."""
    window = {"measure.warmup": "5.2 s", "measure.duration": "0.6 s"}
    outcome = forebay.run(loads(UDP).replace(window), seed=1)
    assert outcome.links["bottleneck"].utilization.value == pytest.approx(8 / 12, rel=0.01)


def test_a_trace_that_is_not_repeated_ends_with_its_last_rate():
    once = loads(UDP).replace({"link.rate_trace.repeat": False, "traffic.0.rate": "24 Mbit/s"})
    outcome = forebay.run(once, seed=1)
    assert outcome.classes[0].throughput_bps.value == pytest.approx(6e6, rel=1e-3)


def test_files_and_steps_say_the_same(tmp_path):
    numbers = with_trace("time,rate\n0,12e6\n2,6e6\n", tmp_path / "a.csv")
    units = with_trace("0 s,12 Mbit/s\n2000 ms,6 Mbit/s\n", tmp_path / "b.csv")
    traces = [each.link.rate_trace for each in (loads(UDP), numbers, units)]
    assert len({(each.rates, each.length_s) for each in traces if each}) == 1
    assert numbers.sha256() == units.sha256()


def test_a_mahimahi_trace_lets_a_packet_pass_at_each_line(tmp_path):
    """1, 1, 3 and 4 ms: 24 Mbit/s, a pause of a millisecond, then 12 Mbit/s; 4 ms in all."""
    trace = with_trace("1\n1\n3\n4\n", tmp_path / "lte").link.rate_trace
    assert trace.rates == ((0.0, 24e6), (0.001, 0.0), (0.002, 12e6))
    assert (trace.length_s, trace.mean) == (0.004, 12e6)
    assert trace.bits([0.001, 0.002, 0.004, 0.4]) == pytest.approx([24e3, 24e3, 48e3, 48e5])


def test_packets_of_a_mahimahi_trace_leave_at_its_lines(tmp_path):
    scenario = with_trace("1\n1\n3\n4\n", tmp_path / "lte").replace({"traffic.0.rate": "40 Mbit/s"})
    outcome = forebay.run(scenario, seed=1)
    assert outcome.classes[0].throughput_bps.value == pytest.approx(12e6, rel=1e-3)


def test_a_link_with_a_trace_is_written_and_read_back(tmp_path):
    scenario = with_trace("0,12e6\n2,6e6\n", tmp_path / "a.csv")
    scenario.save(tmp_path / "saved.toml")
    again = forebay.load(tmp_path / "saved.toml")
    assert again == scenario and again.sha256() == scenario.sha256()
    assert "rate" not in scenario.to_dict()["link"]
    assert "rate_trace" in scenario._repr_html_()
    assert str(tmp_path / "a.csv") in scenario.files


def test_a_scaled_trace_has_the_same_times(tmp_path):
    trace = with_trace("0,8e6\n3,2e6\n", tmp_path / "a.csv").link.rate_trace
    half = trace.scaled(0.5)
    assert half.rates == ((0.0, 4e6), (3.0, 1e6))
    assert (half.length_s, half.mean, half.repeat) == (trace.length_s, trace.mean / 2, trace.repeat)


def test_more_bits_than_the_rate_lets_pass_are_not_hidden():
    """Only what times in whole picoseconds add is cut off at 100 %."""
    for bits, used in ((1e9 + 0.5, 1e9), (1.1e9, 1.1e9), (0.5e9, 0.5e9)):
        link = SimpleNamespace(
            bits=np.array([bits]), possible_bits=np.array([1e9]), capacity_bps=1e6, sent=np.zeros(1)
        )
        assert utilization([link]).value == used / 1e9  # type: ignore[list-item, union-attr]


_THIRDS = """
link.rate_trace = { steps = [["0 s", "12 Mbit/s"], ["10 ms", "6 Mbit/s"]] }
queue.size = "100 packets"
measure = { warmup = "1 s", duration = "1 s" }
"""
_FLOOD = (
    '[[traffic]]\nkind = "udp"\nflows = 1\nrate = "20 Mbit/s"\npacket = "300 B"\nstart = "0 s"\n'
)


@pytest.mark.parametrize("classes", [1, 2])
def test_classes_of_small_packets_have_no_more_than_the_rate_lets_pass(classes):
    """267 us for each packet at 9 Mbit/s, in whole picoseconds 1.25e-9 longer than they are."""
    outcome = forebay.run(loads(_THIRDS + classes * _FLOOD), seeds=2)
    total = sum(each.throughput_bps.value for each in outcome.classes)
    assert total == pytest.approx(9e6, rel=1e-9) and total <= 9e6 * (1 + 1e-12)
    assert all(each.goodput_bps.value <= each.throughput_bps.value for each in outcome.classes)
    assert outcome.links["bottleneck"].utilization.value <= 1.0


_LONE = """
[queue]
size = "1000 packets"
[[traffic]]
kind = "transfers"
rtt = "10 ms"
access_rate = "1 Gbit/s"
transfers = [
  { start = "0.1 s", size = "10 kB" }, { start = "2.9 s", size = "10 kB" },
  { start = "3 s", size = "10 kB" }, { start = "5.9995 s", size = "10 kB" },
]
[measure]
warmup = "0 s"
duration = "10 s"
"""
_VARY = [
    'rate = "20 Mbit/s"\ndown = { times = [["0 s", "2 s"]], period = "4 s" }',
    'rate_trace = { steps = [["0 s", "100 Mbit/s"], ["2 s", "2 Mbit/s"]] }',
    'rate_trace = { steps = [["0 s", "100 Mbit/s"], ["2 s", "2 Mbit/s"]], repeat = false }',
]


@pytest.mark.parametrize("link", _VARY)
@pytest.mark.parametrize("second", ["", '[[links]]\nname = "core"\nrate = "40 Mbit/s"\n'])
def test_the_ideal_time_of_a_lone_transfer_is_what_it_takes(link, second):
    """Within the first window, of 10 packets, nothing waits but for the link."""
    route = 'route = ["bottleneck", "core"]\n' if second else ""
    text = _LONE.replace('rtt = "10 ms"\n', f'rtt = "10 ms"\n{route}')
    rows = forebay.run(loads(f"[link]\n{link}\n{second}{text}")).flows()
    assert rows["slowdown"] == pytest.approx(np.ones(4), rel=1e-6)
    assert rows["slowdown"].min() >= 1 - 1e-9
    assert rows["ideal_s"][0] == pytest.approx(1.91 if "down" in link else 0.006, abs=5e-3)


@pytest.mark.parametrize(
    ("link", "mean", "window", "silent", "longest"),
    [
        ('rate_trace = { steps = [["0 s", "50 Mbit/s"], ["1 s", "5 Mbit/s"]], repeat = false }',
         27.5e6, 5e6, 0.0, 0.0),
        ('rate_trace = { steps = [["0 s", "10 Mbit/s"], ["100 s", "100 Mbit/s"]], '
         'period = "1000 s" }',
         91e6, 10e6, 0.0, 0.0),
        ('rate = "12 Mbit/s"\ndown = [["200 s", "201 s"]]', 12e6, 12e6, 0.0, 0.0),
        ('rate = "12 Mbit/s"\ndown = [["0 s", "20 s"]]', 12e6, 0.0, 1.0, 11.0),
        ('rate = "12 Mbit/s"\ndown = { times = [["0 s", "1 s"]], period = "2 s" }',
         6e6, 6e6, 0.5, 1.0),
    ],
)  # fmt: skip
def test_an_answer_has_the_mean_of_sizes_and_that_of_its_window(
    link, mean, window, silent, longest
):
    of_run = "queue.size = '1000 packets'\nmeasure = { warmup = '1 s', duration = '10 s' }\n"
    scenario = loads(f"{of_run}[link]\n{link}\n{UDP[UDP.index('[[traffic]]') :]}")
    (found,) = forebay.run(scenario).rates.values()
    assert found.mean_bps == pytest.approx(mean) == float(scenario.link.capacity)
    assert found.window_bps == pytest.approx(window)
    assert (found.zero_share, found.longest_zero_s) == pytest.approx((silent, longest))
    (line,) = rate_lines({"bottleneck": found})
    assert "below 0" not in line
    assert ("utilization to the" in line) == (mean != window)


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("# drive\n1\n\n5\n4\n", "line 5: 4 ms is before the line above"),
        ("1\n2.5\n", 'line 2: "2.5" is not a whole number of milliseconds'),
        (f"1\n{'9' * 5000}\n", "line 2: "),
        ("time,rate\n0,1e6\n1,2e6,3\n", 'line 3: "1,2e6,3" is not a time and a rate'),
        ("0,1e6\n2,2e6\n2,1e6\n", "line 3: 2 s is not after the line above"),
        ("0,1e6\n1,-2e6\n", "line 2: -2e+06 bit/s is below 0"),
        ("0,1e6\n1,fast\n", 'line 2: "fast" is no'),
        ("0,1e6\nnan,1e6\n", "line 2: nan s is not after the line above"),
    ],
)
def test_a_mistake_in_a_file_is_named_with_its_line(tmp_path, content, wrong):
    path = tmp_path / "trace.csv"
    path.write_text(content)
    with pytest.raises(ScenarioError) as refused:
        loads(UDP).replace({"link.rate_trace": str(path)})
    assert wrong in str(refused.value) and "\n" not in str(refused.value)
