"""Round trips that data alone tells, beside the senders' own: for `docs/reference/estimates.md`.

PYTHONPATH=. python benches/one_way_links.py    30 links, delayed ACKs or not: 2 minutes
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from tests.measure.test_simulated import LONG, forward

import forebay
from forebay import measure
from forebay.scenario import loads

SEED = 5
LINKS = 30
Link = tuple[int, int, int, float, float, str]


def drawn(draw: random.Random) -> Link:
    """Return rate in Mbit/s, buffer in packets, flows, ends of round trips in ms, control."""
    flows = round(2 * 200 ** draw.random())
    rate = max(draw.choice([10, 20, 40, 60, 100, 155, 200, 300]), flows // 3)
    low = draw.choice([5, 10, 20, 40, 80])
    high = low * draw.choice([1.05, 1.5, 2, 4])
    product = rate * 1e6 * (low + high) / 2e3 / 8 / 1500
    buffer = max(8, round(product * draw.choice([0.1, 0.3, 0.6, 1, 2])))
    return rate, buffer, flows, low, high, draw.choice(["cubic", "cubic", "cubic", "reno", "bbr"])


def row(link: Link, delayed: bool, folder: Path) -> list[tuple[float, bool]]:
    """Return how far off mean, median and 95 % quantile are, and whether intervals hold them."""
    rate, buffer, flows, low, high, control = link
    seconds = max(4, min(15, 3000 // rate))
    text = f'link.rate = "{rate} Mbit/s"\nqueue.size = "{buffer} packets"\n'
    text += f'measure = {{ warmup = "0 s", duration = "{seconds} s" }}\n'
    text += LONG.format(flows=flows, low=low, high=high, control=f'"{control}"')
    path = folder / "link.pcapng"
    scenario = loads(text, overrides=[f"traffic.0.delayed_ack={str(delayed).lower()}"])
    own = forebay.run(scenario, seed=SEED, capture=path).classes[0].rtt_s
    told = measure.capture(
        [forward(path)], rate=f"{rate} Mbit/s", interface="bottleneck"
    ).estimates["rtt_s"]
    found = []
    for name in ("mean", "p50", "p95"):
        true, each = getattr(own, name).value, told[name]
        found.append((each["value"] / true - 1, each["low"] <= true <= each["high"]))
    return found


def main() -> None:
    """Print a row a link, and how many are how near."""
    draw, rows = random.Random(SEED), []
    with tempfile.TemporaryDirectory() as folder:
        for link in (drawn(draw) for _ in range(LINKS)):
            for delayed in (True, False):
                rows.append(row(link, delayed, Path(folder)))
                print(*link, delayed, *(f"{off:+.1%} {held}" for off, held in rows[-1]), flush=True)
    for name, column in zip(("mean", "p50", "p95"), zip(*rows, strict=True), strict=True):
        near = [sum(abs(off) < most for off, _ in column) for most in (0.02, 0.05)]
        held = sum(held for _, held in column)
        print(f"{name}: of {len(rows)}, {near[0]} within 2 %, {near[1]} within 5 %, {held} held")


if __name__ == "__main__":
    main()
