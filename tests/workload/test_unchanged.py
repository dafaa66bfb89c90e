"""How a draw is made may change, what is drawn may not: stored answers were measured on it.

The digests are those of version 0.1.0, which drew each class whole. Nor does what is not traffic,
a longer run, a further class or a further flow change what is drawn already.
"""

import hashlib
from dataclasses import fields

import numpy as np
import pytest

from forebay.scenario import loads
from forebay.workload import Workload, draw

HEAD = 'link.rate = "100 Mbit/s"\nqueue.size = "48 packets"\n'
MEASURE = 'measure = { warmup = "0.5 s", duration = "20 s" }\n'
USUAL = 'start = { uniform = ["0 s", "10 s"] }\n'
START = 'start = { uniform = ["0 s", "30 s"] }\n'
DRAWN = {
    "long": ('flows = 100\nrtt = { uniform = ["80 ms", "120 ms"] }\n' + USUAL, "a862062bf5da4553"),
    "constant": ('kind = "udp"\nflows = 30\nrate = "1 Mbit/s"\n' + START, "919d8fe1fe9dc527"),
    "constant-one": (
        'kind = "udp"\nflows = 1\npacket = "64 B"\nrate = "20 Mbit/s"\n' + USUAL,
        "338d03551f6cd1fa",
    ),
    "poisson": (
        'kind = "udp"\nflows = 70\nrate = "714286 bit/s"\narrivals = "poisson"\n' + START,
        "1942f016ef3f89fd",
    ),
    "poisson-load": (
        'kind = "udp"\nflows = 70\nload = 0.5\narrivals = "poisson"\n' + START,
        "154753ab7468d450",
    ),
    "poisson-one": (
        'kind = "udp"\nflows = 1\npacket = "64 B"\nload = 0.1\narrivals = "poisson"\n' + USUAL,
        "922291c798655801",
    ),
    "onoff": (
        'kind = "onoff"\nflows = 40\npeak_rate = "1 Mbit/s"\non = { exponential = "9 ms" }\n'
        'off = { pareto = { mean = "30 ms", shape = 1.5, high = "10 s" } }\n' + START,
        "fa69a8bb9d24fe26",
    ),
    "onoff-fast": (
        'kind = "onoff"\nflows = 2\npeak_rate = "9 Mbit/s"\non = "20 us"\n'
        'off = { exponential = "30 us" }\n' + USUAL,
        "e80d85b5f2efac8a",
    ),
    "onoff-slow": (
        'kind = "onoff"\nflows = 900\npeak_rate = "90 kbit/s"\non = "9 s"\n'
        'off = "9 s"\nstart = "0 s"\n',
        "5b5e2b6d2a233d8c",
    ),
    "video-burst": ('kind = "video"\nflows = 5\nrate = "3 Mbit/s"\n' + START, "a859d78c58b95c12"),
    "video-even": (
        'kind = "video"\nflows = 5\nrate = "3 Mbit/s"\nspacing = "even"\n'
        "frame_rate = 0.7e1\nvariation = 2.0\n" + START,
        "e871e85ef12bd9df",
    ),
    "session": (
        'kind = "session"\nflows = 60\nfile = { pareto = { mean = "40 packets", '
        'shape = 1.2 } }\nthink = { exponential = "90 ms" }\n' + START,
        "6e59cd52dd62dc68",
    ),
    "session-one": (
        'kind = "session"\nflows = 1\nfile = "2 packets"\nthink = "10 us"\n'
        'rtt = "100 us"\nstart = "0 s"\n',
        "a9d2feeffffa6feb",
    ),
    "short": (
        'kind = "short"\nload = 0.3\nlength = { geometric = "9 packets" }\n',
        "ce44c8fc3b33d39f",
    ),
    "transfers": (
        'kind = "transfers"\narrival_rate = 300.0\nsize = "web-search"\n',
        "1c6d8d08ee66ba89",
    ),
    "requests": (
        'kind = "requests"\nflows = 24\nfan_in = 8\nresponse = { geometric = "9 packets" }\n'
        'think = { exponential = "9 ms" }\n',
        "800ac5d68aad7ce6",
    ),
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
