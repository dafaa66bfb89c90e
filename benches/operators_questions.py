"""A hundred random questions of operators, each asked twice: alone, and beside two busy loops.

    .venv/bin/python benches/operators_questions.py FILE.jsonl [QUESTIONS [FIRST [BUDGET_S]]]

Question k is drawn from its number alone, so the same question has the same text on any machine.
Appends a line a question to FILE.jsonl, leaves out those that it has, and prints a summary at the
end. `asked` has the scenario, `idle` and `loaded` the answers: exit status, seconds, and what
`forebay size --json` said. `--show K` prints the scenario of question K.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

LOWEST_BPS, HIGHEST_BPS = 10e6, 800e9
LEAST_SHARE_BPS = 20e3
"""Least share of the link that a long flow has: below it a window holds less than a packet."""
KINDS = ("one", "mix", "paced", "short", "mixed with short", "video beside", "shaped", "aqm")
LOADED = 2
"""Busy loops beside the second asking."""


def question(number: int) -> str:
    """Return the scenario of a question, as TOML."""
    draw = np.random.default_rng([2026, number])
    kind = KINDS[number % len(KINDS)]
    rate = math.exp(draw.uniform(math.log(LOWEST_BPS), math.log(HIGHEST_BPS)))
    most = min(1e6, max(2.0, rate / LEAST_SHARE_BPS))
    flows = round(math.exp(draw.uniform(0.0, math.log(most))))
    low = float(draw.choice([0.2, 1, 5, 10, 20, 40, 80, 250]))
    high = low * float(draw.choice([1.2, 2, 5, 9]))
    rtt = f'{{ uniform = ["{low:g} ms", "{high:g} ms"] }}'
    lines = [f'name = "question {number}: {kind}"', "[link]", f'rate = "{rate / 1e6:.4g} Mbit/s"']
    if kind == "shaped":
        rate *= 0.2
        lines += ["[link.shaper]", f'rate = "{rate / 1e6:.4g} Mbit/s"', 'burst = "250 kB"']
    if kind == "aqm":
        lines += ["[queue]", f'discipline = "{draw.choice(["codel", "fq_codel", "pie"])}"']
    if kind != "short":
        control = {
            "mix": "{ cubic = 0.6, bbr = 0.4 }",
            "shaped": "{ cubic = 0.7, bbr = 0.3 }",
            "paced": f'"{draw.choice(["bbr", "bbr3"])}"',
        }.get(kind, f'"{draw.choice(["cubic", "reno"])}"')
        lines += ["[[traffic]]", f"flows = {flows}", f"rtt = {rtt}"]
        lines += [f"congestion_control = {control}"]
    if "short" in kind:
        load = round(
            float(draw.uniform(0.3, 0.85) if kind == "short" else draw.uniform(0.05, 0.4)), 2
        )
        lines += ["[[traffic]]", 'kind = "short"', f"load = {load}", f"rtt = {rtt}"]
        lines += ['length = { pareto = { mean = "60 kB", shape = 1.3 } }']
    if kind == "video beside":
        count = max(1, round(0.1 * rate / 4e6))
        lines += ["[[traffic]]", 'kind = "udp"', f"flows = {count}", 'rate = "4 Mbit/s"']
    lines += ["[goals]", *_goals(kind, draw)]
    return "\n".join(lines) + "\n"


def _goals(kind: str, draw: np.random.Generator) -> Iterator[str]:
    if kind == "short":
        yield f"loss_rate = {draw.choice([0.001, 0.01])}"
        return
    yield f"utilization = {draw.choice([0.9, 0.95, 0.98, 0.99])}"
    if draw.random() < 0.4:
        yield f'queue_delay_p99 = "{draw.choice([5, 20, 50, 100])} ms"'
    if draw.random() < 0.25:
        yield f"loss_rate = {draw.choice([0.001, 0.01, 0.03])}"


def ask(text: str, budget_s: float) -> dict[str, Any]:
    """Return what the command answers."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "question.toml"
        file.write_text(text)
        began = time.monotonic()
        done = subprocess.run(
            [Path(sys.executable).with_name("forebay"), "size", file, "--json", "--seed", "1",
             "--budget", f"{budget_s:g} s"],
            capture_output=True, text=True, check=False, cwd=folder,
        )  # fmt: skip
    said = {"status": done.returncode, "seconds": round(time.monotonic() - began, 2)}
    if not done.stdout:
        return said | {"stderr": done.stderr[-2000:]}
    found = json.loads(done.stdout)
    names = ("buffer", "recommended", "reason", "region", "notes", "undecided", "assumptions")
    scaled = found["scaled"]
    return (
        said | {name: found.get(name) for name in names} | {"scaled": scaled and scaled["factor"]}
    )


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep the processors busy with so many loops."""
    made = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for each in made:
            each.kill()
            each.wait()


def holds(first: dict[str, Any], second: dict[str, Any]) -> bool | None:
    """Whether each answer is in the other's interval; None unless both have one."""
    a, b = first.get("buffer"), second.get("buffer")
    if a is None or b is None:
        return None
    return bool(a["low"] <= b["packets"] <= a["high"] and b["low"] <= a["packets"] <= b["high"])


def outside(said: dict[str, Any]) -> bool:
    """Whether a recommended size lies in no part of the region that meets the goals."""
    made = said.get("recommended")
    if made is None:
        return False
    ends = [(part["low"], part["high"] or math.inf) for part in said["region"]]
    return not any(low <= made["packets"] <= high for low, high in ends)


def summary(rows: list[dict[str, Any]]) -> None:
    """Print the figures of the whole."""
    every = [row[name] for row in rows for name in ("idle", "loaded")]
    crashes = [s for s in every if s["status"] not in (0, 1, 3)]
    wide = [s["buffer"]["high"] / s["buffer"]["low"] for s in every if s.get("recommended")]
    pairs = [holds(row["idle"], row["loaded"]) for row in rows]
    both = [pair for pair in pairs if pair is not None]
    print(f"{len(rows)} questions: {len(crashes)} answers with another status than 0, 1 or 3")
    print(f"  outside the goals: {sum(map(outside, every))}")
    for name in ("idle", "loaded"):
        says = [row[name] for row in rows]
        given = sum(s.get("recommended") is not None for s in says)
        none = sum(s["status"] == 1 for s in says)
        late = max(s["seconds"] for s in says)
        print(f"  {name}: {given} recommended, {none} met by no buffer, longest {late:.1f} s")
    if wide:
        print(f"  high/low of the interval where recommended: median {statistics.median(wide):.2f}")
    print(f"  answers that hold each other: {sum(both)} of {len(both)} pairs with two answers")
    one = sum(a != b for a, b in ((r["idle"]["status"], r["loaded"]["status"]) for r in rows))
    print(f"  pairs with different statuses: {one}")


def main(path: Path, count: int, first: int, budget_s: float) -> None:
    """Ask what the file does not have yet, and summarize the file."""
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {row["number"] for row in rows}
    for number in range(first, first + count):
        if number in known:
            continue
        text = question(number)
        idle = ask(text, budget_s)
        with busy(LOADED):
            loaded = ask(text, budget_s)
        rows.append({"number": number, "asked": text, "load": os.getloadavg()[0],
                     "idle": idle, "loaded": loaded})  # fmt: skip
        with path.open("a") as file:
            file.write(json.dumps(rows[-1]) + "\n")
    summary(rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--show"]:
        print(question(int(sys.argv[2])), end="")
    else:
        given = [float(each) for each in sys.argv[2:5]]
        count, first, budget = (*given, *(100.0, 0.0, 10.0)[len(given) :])
        main(Path(sys.argv[1]), int(count), int(first), budget)
