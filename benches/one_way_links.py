"""Round trips that data alone tells, beside the senders' own: for `docs/reference/estimates.md`.

PYTHONPATH=. python benches/one_way_links.py            30 links drawn at random: 2 minutes
PYTHONPATH=. python benches/one_way_links.py twelve     those of `tests/measure/test_simulated.py`
PYTHONPATH=. python benches/one_way_links.py others     twelve that were chosen before any was tried

Each with delayed ACKs and without. Another word, on or off, is the senders' segmentation offload:
on if it is not said.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from tests.measure.test_simulated import LONG, TWELVE, forward

import forebay
from forebay import measure
from forebay.scenario import loads

SEED = 5
LINKS = 30
Link = tuple[int, int, int, float, float, str, int]
OTHERS: list[Link] = [
    (8, 25, 5, 35, 70, "reno", 1500), (45, 90, 16, 15, 45, "cubic", 1500),
    (70, 250, 30, 60, 61, "cubic", 1500), (155, 60, 40, 25, 140, "cubic", 9000),
    (12, 80, 10, 50, 150, "reno", 576), (35, 200, 15, 25, 75, "bbr", 1500),
    (22, 50, 9, 10, 30, "bbr3", 1500), (90, 150, 70, 35, 105, "westwood", 1500),
    (200, 300, 25, 8, 16, "cubic", 1500), (18, 120, 2, 100, 200, "cubic", 1000),
    (65, 45, 45, 45, 135, "reno", 1500), (28, 35, 14, 25, 100, "compound", 1200),
]  # fmt: skip


def drawn(draw: random.Random) -> Link:
    """Return rate in Mbit/s, buffer in packets, flows, ends of round trips in ms, control, size."""
    flows = round(2 * 200 ** draw.random())
    rate = max(draw.choice([10, 20, 40, 60, 100, 155, 200, 300]), flows // 3)
    low = draw.choice([5, 10, 20, 40, 80])
    high = low * draw.choice([1.05, 1.5, 2, 4])
    product = rate * 1e6 * (low + high) / 2e3 / 8 / 1500
    buffer = max(8, round(product * draw.choice([0.1, 0.3, 0.6, 1, 2])))
    return (
        rate,
        buffer,
        flows,
        low,
        high,
        draw.choice(["cubic", "cubic", "cubic", "reno", "bbr"]),
        1500,
    )


def row(link: Link, delayed: bool, offload: str, folder: Path) -> list[tuple[float, bool]]:
    """Return how far off mean, median and 95 % quantile are, and whether intervals hold them."""
    rate, buffer, flows, low, high, control, size = link
    seconds = max(4, min(15, 3000 // rate))
    text = f'link.rate = "{rate} Mbit/s"\nqueue.size = "{buffer} packets"\n'
    text += f'measure = {{ warmup = "0 s", duration = "{seconds} s" }}\n'
    text += LONG.format(flows=flows, low=low, high=high, control=f'"{control}"')
    path = folder / "link.pcapng"
    of = {"delayed_ack": str(delayed).lower(), "offload": offload, "packet": f"{size} B"}
    scenario = loads(text, overrides=[f"traffic.0.{name}={value}" for name, value in of.items()])
    own = forebay.run(scenario, seed=SEED, capture=path).classes[0].rtt_s
    told = measure.capture(
        [forward(path)], rate=f"{rate} Mbit/s", interface="bottleneck"
    ).estimates["rtt_s"]
    found = []
    for name in ("mean", "p50", "p95"):
        true, each = getattr(own, name).value, told[name]
        found.append((each["value"] / true - 1, each["low"] <= true <= each["high"]))
    return found


def chosen(which: str) -> list[Link]:
    """Return the links of a set."""
    if which == "others":
        return OTHERS
    if which == "twelve":
        return [(int(link[0].split()[0]), *link[1:], 1500) for link in TWELVE]
    draw = random.Random(SEED)
    return [drawn(draw) for _ in range(LINKS)]


def main() -> None:
    """Print a row a link, and how many are how near."""
    offload = "off" if "off" in sys.argv else "on"
    which = next((word for word in sys.argv[1:] if word in ("twelve", "others")), "drawn")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for link in chosen(which):
            for delayed in (True, False):
                rows.append(row(link, delayed, offload, Path(folder)))
                print(*link, delayed, *(f"{off:+.1%} {held}" for off, held in rows[-1]), flush=True)
    for name, column in zip(("mean", "p50", "p95"), zip(*rows, strict=True), strict=True):
        near = [sum(abs(off) < most for off, _ in column) for most in (0.02, 0.05)]
        held = sum(held for _, held in column)
        print(f"{name}: of {len(rows)}, {near[0]} within 2 %, {near[1]} within 5 %, {held} held")


if __name__ == "__main__":
    main()
