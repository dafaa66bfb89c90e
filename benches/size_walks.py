"""Walks over neighbouring links: no recommended size may be far from its neighbour's.

    .venv/bin/python benches/size_walks.py FILE.jsonl [BUDGET_S [FIRST [WALKS]]]

Ten links, each changed in eight steps of 10 to 30 % in its number of flows, its mix of controls,
its round trips or its rate. Appends a line a link to FILE.jsonl, leaves out those that it has, and
prints for each walk the largest ratio of neighbouring recommendations, and of their least sizes.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import forebay
from forebay.scenario import loads

STEPS = 8


def link(
    rate: float, flows: float, low: float, high: float, mix: dict[str, float], goals: str
) -> str:
    """Return a scenario: rate in Mbit/s, round trips in ms."""
    shares = ", ".join(f"{name} = {share:.4g}" for name, share in mix.items() if share > 0)
    return (
        f'[link]\nrate = "{rate:.6g} Mbit/s"\n[[traffic]]\nflows = {round(flows)}\n'
        f'rtt = {{ uniform = ["{low:.4g} ms", "{high:.4g} ms"] }}\n'
        f"congestion_control = {{ {shares} }}\n[goals]\n{goals}\n"
    )


def walks() -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each walk and its links."""
    steps = range(STEPS)
    used, waits = "utilization = 0.96", 'utilization = 0.95\nqueue_delay_p99 = "25 ms"'
    half = {"cubic": 0.5, "bbr": 0.5}
    yield (
        "flows of cubic and bbr3",
        [link(300, 60 * 1.2**i, 12, 70, {"cubic": 0.6, "bbr3": 0.4}, waits) for i in steps],
    )
    yield (
        "flows of reno, few to many",
        [link(90, 12 * 1.3**i, 30, 90, {"reno": 1.0}, used) for i in steps],
    )
    yield (
        "flows of cubic at 10 Gbit/s",
        [link(10e3, 900 * 1.25**i, 15, 60, {"cubic": 1.0}, "utilization = 0.98") for i in steps],
    )
    yield (
        "share of bbr",
        [link(800, 300, 10, 50, {"cubic": 1 - 0.12 * i, "bbr": 0.12 * i}, used) for i in steps],
    )
    yield (
        "share of bbr3",
        [link(2500, 500, 20, 80, {"cubic": 1 - 0.12 * i, "bbr3": 0.12 * i}, waits) for i in steps],
    )
    yield (
        "round trips of cubic",
        [link(600, 150, 8 * 1.3**i, 40 * 1.3**i, {"cubic": 1.0}, used) for i in steps],
    )
    yield (
        "round trips of a mix",
        [link(4000, 400, 6 * 1.3**i, 30 * 1.3**i, half, waits) for i in steps],
    )
    yield (
        "rate through 1 Gbit/s",
        [link(500 * 1.2**i, 200, 20, 100, {"cubic": 1.0}, used) for i in steps],
    )
    yield (
        "rate of a mix to 40 Gbit/s",
        [link(8e3 * 1.3**i, 2000, 10, 80, {"cubic": 0.7, "bbr": 0.3}, used) for i in steps],
    )
    yield (
        "through 1 % of loss",
        [link(400 * 1.25**i, 250, 20, 60, {"reno": 0.5, "cubic": 0.5}, used) for i in steps],
    )


def ask(text: str, budget_s: float) -> dict[str, Any]:
    """Return what a sizing says of a link."""
    began = time.monotonic()
    found = forebay.size(loads(text), budget=f"{budget_s:g} s")
    best, least = found.recommended, found.buffer
    return {
        "status": found.exit_status, "seconds": round(time.monotonic() - began, 2),
        "recommended": best and best.packets, "step": best and best.step,
        "least": least and [least.packets, least.low, least.high],
        "reason": found.reason, "scaled": found.scaled and round(found.scaled.factor, 2),
    }  # fmt: skip


def ratio(of: list[int | None]) -> float:
    """Return the largest ratio of two neighbours; 0 without any."""
    pairs = [(a, b) for a, b in pairwise(of) if a and b]
    return max((max(a / b, b / a) for a, b in pairs), default=0.0)


def main(path: Path, budget_s: float, first: int, count: int) -> None:
    """Ask what the file does not have yet, and print every walk."""
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {(row["walk"], row["step"], row["budget"]): row["said"] for row in rows}
    for name, links in list(walks())[first : first + count]:
        said = []
        for step, text in enumerate(links):
            key = (name, step, budget_s)
            if key not in known:
                known[key] = ask(text, budget_s)
                row = {"walk": name, "step": step, "budget": budget_s, "said": known[key]}
                with path.open("a") as file:
                    file.write(json.dumps(row) + "\n")
            said.append(known[key])
        sizes = [each["recommended"] for each in said]
        leasts = [each["least"] and each["least"][0] for each in said]
        print(f"{name}: {ratio(sizes):.2f} (least {ratio(leasts):.2f})")
        print("  recommended", *sizes, "by step", *(each["step"] for each in said))
        print("  least", *leasts, "scaled", *(each["scaled"] for each in said), flush=True)


if __name__ == "__main__":
    given = [float(each) for each in sys.argv[2:5]]
    budget, first, count = (*given, *(10.0, 0.0, 10.0)[len(given) :])
    main(Path(sys.argv[1]), budget, int(first), int(count))
