"""The draw: streams that do not depend on each other, within the scenario's limits.

How a draw is made may change, what is drawn may not: stored answers were measured on it. The
digests are those of version 0.1.0, which drew each class whole. Nor does what is not traffic, a
longer run, a further class or a further flow change what is drawn already.
"""

import dataclasses
import hashlib
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import rows

from forebay.scenario import Scenario, loads, tcp
from forebay.workload import Workload, draw
from forebay.workload.drawing import apportion

BASE = """
link.rate = "155 Mbit/s"
[[traffic]]
flows = 100
rtt = { uniform = ["80 ms", "120 ms"] }
start = { uniform = ["0 s", "10 s"] }
"""
SECOND = '[[traffic]]\nflows = 50\nrtt = { uniform = ["1 ms", "2 ms"] }\npacket = "576 B"\n'
PS = 10**12


def scenario(*sets: str, text: str = BASE) -> Scenario:
    return loads(text, overrides=sets)


def arrays(workload: Workload) -> dict[str, np.ndarray]:
    named = {f.name: getattr(workload, f.name) for f in dataclasses.fields(workload)}
    return {name: value for name, value in named.items() if isinstance(value, np.ndarray)}


def test_one_field_s_distribution_changes_no_other_draw():
    one, other = draw(scenario(), 5), draw(scenario('traffic.0.start={uniform=["0 s","1 s"]}'), 5)
    np.testing.assert_array_equal(one.rtt_ps, other.rtt_ps)
    assert (one.start_ps != other.start_ps).any()
    constant = draw(scenario("traffic.0.rtt=100 ms"), 5)
    np.testing.assert_array_equal(one.start_ps, constant.start_ps)
    assert (constant.rtt_ps == PS // 10).all()


def test_draws_are_uniform_and_streams_are_unrelated():
    """Mean and variance of 100,000 uniform draws; correlation: within 5 standard errors."""
    flows = draw(scenario("traffic.0.flows=100000"), 3)
    assert flows.rtt_ps.min() >= 80 * PS // 1000 and flows.rtt_ps.max() <= 120 * PS // 1000
    assert flows.start_ps.min() >= 0 and flows.start_ps.max() <= 10 * PS
    u, v = (flows.rtt_ps / PS - 0.08) / 0.04, flows.start_ps / PS / 10
    for draws in (u, v):
        assert draws.mean() == pytest.approx(0.5, abs=5 * (1 / 12 / 1e5) ** 0.5)
        assert draws.var() == pytest.approx(1 / 12, rel=0.02)
    assert abs(np.corrcoef(u, v)[0, 1]) < 5 / 1e5**0.5


def test_types_and_shapes():
    flows = draw(scenario(text=BASE + SECOND), 2**64 - 1)
    kinds = {name: values.dtype.name for name, values in arrays(flows).items()}
    assert kinds == {
        "access_bps": "float64", "reverse": "bool", "rtt_ps": "int64", "start_ps": "int64",
        "segments": "int64", "traffic_class": "int32", "congestion_control": "int32",
        "packet_bytes": "int32", "access_group": "int32",
    }  # fmt: skip
    assert {values.shape for values in arrays(flows).values()} == {(150,)}
    assert flows.traffic_class.tolist() == [0] * 100 + [1] * 50
    assert set(flows.packet_bytes[100:]) == {576} and not flows.segments.any()
    assert 0 <= flows.tie_break_seed < 2**64
    with pytest.raises(ValueError, match="read-only"):
        flows.rtt_ps[0] = 1


def test_seeds_differ_and_are_checked():
    first, second = draw(scenario(), 1), draw(scenario(), 2)
    assert (first.rtt_ps != second.rtt_ps).any()
    assert first.tie_break_seed == 4473822744481827463 != second.tie_break_seed
    for seed in (-1, 2**64):
        with pytest.raises(ValueError, match="seed"):
            draw(scenario(), seed)


def test_shares_are_exact_and_shuffled_or_drawn_flow_by_flow(monkeypatch):
    names = ("reno", "cubic", "bbr")
    monkeypatch.setattr(tcp, "CONGESTION_CONTROLS", names)
    monkeypatch.setattr("forebay.workload.drawing.CONGESTION_CONTROLS", names)
    shares = "traffic.0.congestion_control={bbr=0.255, cubic=0.745}"
    mixed = draw(scenario(shares), 1)
    controls = [mixed.congestion_controls[i] for i in mixed.congestion_control]
    assert (controls.count("cubic"), controls.count("bbr")) == (74, 26)
    assert controls not in (sorted(controls), sorted(controls, reverse=True))
    assert apportion(10, {"a": 0.24, "b": 0.76}) == {"a": 2, "b": 8}, "the largest remainder"
    np.testing.assert_array_equal(mixed.rtt_ps, draw(scenario(), 1).rtt_ps)
    short = '[[traffic]]\nkind = "short"\nload = 0.8\nlength = "14 packets"\n'
    found = draw(scenario(shares, text='link.rate = "80 Mbit/s"\n' + short), 1).congestion_control
    assert set(found) == {1, 2} and (found == 1).mean() == pytest.approx(0.745, abs=0.01)


@given(
    st.integers(1, 10_000_000),
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0.001, 1), min_size=1),
)
def test_apportioned_flows_are_all_the_flows(flows, shares):
    counts = apportion(flows, shares)
    total = sum(shares.values())
    assert sum(counts.values()) == flows
    assert all(abs(counts[name] - flows * shares[name] / total) < 1 + 1e-6 for name in shares)


HEAD = 'link.rate = "100 Mbit/s"\nqueue.size = "48 packets"\n'
MEASURE = 'measure = { warmup = "0.5 s", duration = "20 s" }\n'
USUAL = 'start = { uniform = ["0 s", "10 s"] }'
LATE = 'start = { uniform = ["0 s", "30 s"] }'
DRAWN = {
    name: (text.replace("; ", "\n").replace("USUAL", USUAL).replace("LATE", LATE) + "\n", digest)
    for name, digest, text in rows("""
long | a862062bf5da4553 | flows = 100; rtt = { uniform = ["80 ms", "120 ms"] }; USUAL
constant | 919d8fe1fe9dc527 | kind = "udp"; flows = 30; rate = "1 Mbit/s"; LATE
constant-one | 338d03551f6cd1fa | kind = "udp"; flows = 1; packet = "64 B"; rate = "20 Mbit/s"; \
USUAL
poisson | 1942f016ef3f89fd | kind = "udp"; flows = 70; rate = "714286 bit/s"; \
arrivals = "poisson"; LATE
poisson-load | 154753ab7468d450 | kind = "udp"; flows = 70; load = 0.5; arrivals = "poisson"; LATE
poisson-one | 922291c798655801 | kind = "udp"; flows = 1; packet = "64 B"; load = 0.1; \
arrivals = "poisson"; USUAL
onoff | fa69a8bb9d24fe26 | kind = "onoff"; flows = 40; peak_rate = "1 Mbit/s"; \
on = { exponential = "9 ms" }; LATE; \
off = { pareto = { mean = "30 ms", shape = 1.5, high = "10 s" } }
onoff-fast | e80d85b5f2efac8a | kind = "onoff"; flows = 2; peak_rate = "9 Mbit/s"; on = "20 us"; \
off = { exponential = "30 us" }; USUAL
onoff-slow | 5b5e2b6d2a233d8c | kind = "onoff"; flows = 900; peak_rate = "90 kbit/s"; on = "9 s"; \
off = "9 s"; start = "0 s"
video-burst | a859d78c58b95c12 | kind = "video"; flows = 5; rate = "3 Mbit/s"; LATE
video-even | e871e85ef12bd9df | kind = "video"; flows = 5; rate = "3 Mbit/s"; spacing = "even"; \
frame_rate = 0.7e1; variation = 2.0; LATE
session | 6e59cd52dd62dc68 | kind = "session"; flows = 60; \
file = { pareto = { mean = "40 packets", shape = 1.2 } }; think = { exponential = "90 ms" }; LATE
session-one | a9d2feeffffa6feb | kind = "session"; flows = 1; file = "2 packets"; \
think = "10 us"; rtt = "100 us"; start = "0 s"
short | ce44c8fc3b33d39f | kind = "short"; load = 0.3; length = { geometric = "9 packets" }
transfers | 1c6d8d08ee66ba89 | kind = "transfers"; arrival_rate = 300.0; size = "web-search"
requests | 800ac5d68aad7ce6 | kind = "requests"; flows = 24; fan_in = 8; \
response = { geometric = "9 packets" }; think = { exponential = "9 ms" }
""")
}


def drawn(name: str, *sets: str, more: str = "", seed: int = 7) -> Workload:
    text = HEAD + MEASURE + "[[traffic]]\n" + DRAWN[name][0] + more
    return draw(loads(text, overrides=sets), seed)


def own_of(workload: Workload) -> list[tuple[np.ndarray, list[np.ndarray]]]:
    """Return of packets and of files where each flow's begin, and their columns."""
    some = [own for own in (workload.packets, workload.sessions) if own is not None]
    return [(own.offsets, [getattr(own, f.name) for f in fields(own)[1:]]) for own in some]


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_drawn_stays(name):
    workload = drawn(name)
    arrays = [workload.start_ps, workload.segments, workload.rtt_ps]
    for offsets, columns in own_of(workload):
        arrays += [offsets, *columns]
    whole = b"".join(np.ascontiguousarray(each).tobytes() for each in arrays)
    assert hashlib.sha256(whole).hexdigest()[:16] == DRAWN[name][1]


CHANGES = {
    "a buffer and goals": ["queue.size=7 packets", "goals.loss_rate=0.1", "name=other"],
    "a longer run": ["measure.warmup=3 s", "measure.duration=37 s"],
    "a faster link": ["link.rate=1 Gbit/s"],
    "more flows": [],
    "another class": [],
}


def is_changed(name: str, by: str) -> bool:
    """Whether a change is one of traffic: a load is of the link, a video's mean is the run's."""
    text = DRAWN[name][0]
    return {
        "a longer run": "video" in name,
        "a faster link": "load" in text,
        "more flows": "load" in text or "flows" not in text,
    }.get(by, False)


@pytest.mark.parametrize(
    ("name", "change"),
    [(name, change) for name in DRAWN for change in CHANGES if not is_changed(name, change)],
)
def test_what_is_drawn_already_is_not_changed(name, change):
    one = drawn(name)
    n, more = len(one), "[[traffic]]\nflows = 3\n" if change == "another class" else ""
    flows = [f"traffic.0.flows={2 * n}"] if change == "more flows" else []
    other = drawn(name, *CHANGES[change], *flows, more=more)
    longer = change == "a longer run"
    arrive = longer and "flows" not in DRAWN[name][0]
    assert (len(other) > n) == bool(flows or more or arrive)
    for each in ("start_ps", "rtt_ps", "segments", "congestion_control", "packet_bytes"):
        np.testing.assert_array_equal(getattr(one, each), getattr(other, each)[:n])
    for (begin, columns), (start, others) in zip(own_of(one), own_of(other), strict=True):
        counts, found = np.diff(begin), np.diff(start)[:n]
        # On a faster link more files of a user could end before the run does.
        grow = longer or ("session" in name and change == "a faster link")
        assert (found >= counts).all() and (found.sum() > counts.sum()) == grow
        for flow, count in enumerate(counts.tolist()):
            for mine, theirs in zip(columns, others, strict=True):
                same = theirs[start[flow] : start[flow] + count]
                assert (mine[begin[flow] : begin[flow + 1]] == same).all()
