"""How a draw is made may change, what is drawn may not: stored answers were measured on it.

The digests are those of version 0.1.0, which drew each class whole.
"""

import hashlib

import numpy as np
import pytest

from forebay.scenario import loads
from forebay.workload import draw

HEAD = 'link.rate = "100 Mbit/s"\nqueue.size = "48 packets"\n'
MEASURE = 'measure = { warmup = "0.5 s", duration = "20 s" }\n'
USUAL = 'start = { uniform = ["0 s", "10 s"] }\n'
START = 'start = { uniform = ["0 s", "30 s"] }\n'
DRAWN = {
    "constant": ('kind = "udp"\nflows = 30\nrate = "1 Mbit/s"\n' + START, "919d8fe1fe9dc527"),
    "constant-one": (
        'kind = "udp"\nflows = 1\npacket = "64 B"\nrate = "20 Mbit/s"\n' + USUAL,
        "338d03551f6cd1fa",
    ),
    "poisson": (
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
}


def digest(text: str) -> str:
    workload = draw(loads(HEAD + MEASURE + "[[traffic]]\n" + text), 7)
    arrays = [workload.start_ps, workload.segments, workload.rtt_ps]
    for own in (workload.packets, workload.sessions):
        if own is not None:
            arrays += [getattr(own, name) for name in own.__dataclass_fields__]
    return hashlib.sha256(
        b"".join(np.ascontiguousarray(each).tobytes() for each in arrays)
    ).hexdigest()[:16]


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_drawn_stays(name):
    text, expected = DRAWN[name]
    assert digest(text) == expected
