"""A run that says something about the machine is no number, or says so."""

import pytest

from forebay.engines import get
from forebay.engines.testbed.retry import disturbed
from forebay.engines.testbed.validity import LIMITS, faults, stall_limit
from forebay.report import print_outcome

WELL = {
    "lateness_p99_s": 1e-4, "lateness_max_s": 3e-3, "router_cpu": 0.6,
    "tun_tx_drops": 0, "write_errors": 0,
    "rwnd_limited": 0.0, "sndbuf_limited": 0.004,
    "doubled_segments": 0, "late_segments": 0, "dsacks": 7,
    "failed_connections": 0, "refused_datagrams": 0,
}  # fmt: skip


def said_of(read, **how):
    return list(map(str, faults(read, **how)))


@pytest.mark.parametrize(
    ("reading", "value", "said"),
    [
        ("lateness_p99_s", 1.1e-3, "delivery lateness p99 1.1 ms, at most 1 ms"),
        ("lateness_max_s", 21e-3, "largest delivery lateness 21 ms, at most 20 ms"),
        ("router_cpu", 0.74, "router's share of a core 74 %, at most 70 %"),
        ("tun_tx_drops", 1, "packets dropped by the TUN devices 1, at most 0"),
        ("write_errors", 2, "packets that could not be written 2, at most 0"),
        ("doubled_segments", 1, "segments received twice and sent once 1, at most 0"),
        ("late_segments", 1, "segments received twice after a late delivery 1, at most 0"),
        ("rwnd_limited", 0.006, "time limited by the receive window 0.6 %, at most 0.5 %"),
        ("sndbuf_limited", 0.01, "time limited by the send buffer 1 %, at most 0.5 %"),
    ],
)
def test_each_limit_alone_makes_a_run_invalid(reading, value, said):
    assert said_of({**WELL, reading: value}) == [said]


def test_a_valid_run_has_no_fault_and_lateness_counts_beside_the_time_that_the_buffer_drains_in():
    assert faults(WELL) == faults(WELL, drain_s=1.1e-3) == []
    said = "delivery lateness p99, as a share of the buffer's drain time, 20 %, at most 10 %"
    assert said_of(WELL, drain_s=0.5e-3) == [said]


@pytest.mark.parametrize(
    ("drain_s", "most_ms"), [(1e-3, 4), (4.95e-3, 4.95), (15e-3, 15), (0.1, 20)]
)
def test_a_stall_may_last_as_long_as_the_buffer_drains(drain_s, most_ms):
    assert faults({**WELL, "lateness_max_s": 0.99e-3 * most_ms}, drain_s=drain_s) == []
    longer = said_of({**WELL, "lateness_max_s": 1.1e-3 * most_ms}, drain_s=drain_s)
    assert longer == [f"largest delivery lateness {1.1 * most_ms:.4g} ms, at most {most_ms:g} ms"]


def test_what_was_not_read_is_a_fault_and_no_zero():
    for limit in (*LIMITS, stall_limit(None)):
        without = {name: value for name, value in WELL.items() if name != limit.reading}
        assert said_of(without) == [f"{limit.says} was not read"]
    # A window that the scenario limits is no fault.
    limited = {**WELL, "rwnd_limited": 0.9}
    assert faults(limited) and not faults(limited, window_is_limited=True)


def test_stalls_are_said_from_a_twentieth_of_the_losses_of_all_runs_on():
    for after, said in ((0, False), (4, False), (5, True), (100, True)):
        assert bool(disturbed([{"drops": 100, "stall_drops": after}])) is said
    (line,) = disturbed([{"drops": 60, "stall_drops": 10}, {"drops": 40, "stall_drops": 0}])
    assert str(line).startswith("This machine stalled: 10 of 100 losses (10 %)")
    assert disturbed([{}]) == (), "a record of before has no such reading"
    assert disturbed([{"drops": 0, "stall_drops": 0}]) == ()


def test_it_stands_in_the_first_lines(fake, small, capsys):
    fake("stalled")
    outcome = get("testbed").run(small, [1])
    assert "400 of 1600 losses (25 %)" in outcome.disturbed[0]
    print_outcome(outcome)
    head = " ".join(capsys.readouterr().out.split()).partition("Link bottleneck")[0]
    assert "This machine stalled: 400 of 1600 losses (25 %)" in head
