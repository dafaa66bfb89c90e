"""Are recommended sizes right? Each is simulated anew, whole, with seeds that no search used.

    .venv/bin/python benches/sizes_checked.py FILE.jsonl [LINKS [SEEDS]]

FILE.jsonl is what operators_questions.py wrote. Takes the recommended sizes of the links that cost
least to simulate, and runs each with 40 seeds from 1001 on. A goal is met, missed, or undecided by
its interval there; a missed goal is a wrong size. The exit status is 1 if there is one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import forebay
from forebay.outcome import Verdict
from forebay.scenario import loads
from forebay.search.evidence import Evidence, judge
from forebay.search.goals import goals_of

FIRST_SEED = 1001


def checked(asked: str, packets: int, seeds: int) -> list[tuple[str, float, Verdict]]:
    """Return each goal with its value and verdict at a size."""
    scenario = loads(asked).with_buffer(packets)
    outcome = forebay.run(scenario, seed=FIRST_SEED, seeds=seeds)
    seen = Evidence(outcome)
    found = []
    for goal in goals_of(scenario):
        metric = goal.kind.read(seen)
        assert metric is not None, f"simulation gives {goal}"
        at_least = goal.kind.direction == "increasing" and "loss" not in goal.kind.name
        found.append((str(goal), metric.value, judge(metric, goal.target, at_least=at_least)))
    return found


def cost(row: dict[str, Any]) -> float:
    """Return what a replication of a row's link costs, seconds."""
    from forebay.search.cost import cost_s

    scenario = loads(row["asked"])
    return cost_s(scenario, float(scenario.measure.warmup + scenario.measure.duration))


def main(path: Path, links: int, seeds: int) -> int:
    """Check the links that cost least."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    given = [row for row in rows if row["idle"].get("recommended") and "aqm" not in row["asked"]]
    wrong = 0
    for row in sorted(given, key=cost)[:links]:
        packets = row["idle"]["recommended"]["packets"]
        goals = checked(row["asked"], packets, seeds)
        wrong += any(verdict is Verdict.MISSED for _, _, verdict in goals)
        words = "; ".join(f"{name}: {value:.5g}, {verdict}" for name, value, verdict in goals)
        print(f"{row['number']:3} {packets:6} packets  {words}", flush=True)
    print(f"{min(links, len(given))} sizes, {wrong} of them wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[2:4]]
    links, seeds = (*given, *(20, 40)[len(given) :])
    sys.exit(main(Path(sys.argv[1]), links, seeds))
