"""``make fuzz-budgets``: random scenarios within budgets; none may be wrong, and none late.

Each case runs, sizes or compares a random scenario or network within a random time. A line of JSON
for each is kept in build/fuzz-budgets.jsonl, with what the rest of the machine did meanwhile: where
others have used processors, a late answer may be theirs.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tomli_w
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from judge import Judge
from scenarios import large_links, networks, trees

LOG = Path(__file__).parents[2] / "build" / "fuzz-budgets.jsonl"
_ROUND = 20
_VERBS = ("run", "size", "compare")
_VERBS_OF_NETWORKS = ("run", "run", "links", "compare")


def main() -> int:
    """Run cases until there are enough, or the time is over; 1 if any went wrong or was late."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--least", type=float, default=0.5, help="seconds of a budget")
    parser.add_argument("--most", type=float, default=3.0)
    parser.add_argument("--busy", type=int, default=0, help="loops beside it")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    asked = parser.parse_args()
    LOG.parent.mkdir(exist_ok=True)
    end, judge, counts = time.monotonic() + 60 * asked.minutes, Judge(), dict.fromkeys(_COUNTS, 0)
    try:
        with _busy(asked.busy), LOG.open("a") as log:
            while counts["cases"] < asked.cases and time.monotonic() < end:
                for line in _round(judge, asked, end):
                    _count(counts, line)
                    print(json.dumps(line), file=log, flush=True)
                print(", ".join(f"{n} {name}" for name, n in counts.items()), flush=True)
                asked.seed += 1
    finally:
        judge.close()
    return 1 if counts["wrong"] or counts["late"] else 0


_COUNTS = ("cases", "answered", "refused", "wrong", "late", "late beside others")
_OTHERS = 0.5
"""Processors that others use on average while an answer is made, from which on lateness is said
to be theirs too."""


def _count(counts: dict[str, int], line: dict[str, Any]) -> None:
    counts["cases"] += 1
    if line["wrong"]:
        counts["wrong"] += 1
        print(f"wrong: {line['ask']}: {line['wrong']}", flush=True)
        return
    done = any("done" in each for each in line["said"])
    counts["answered" if done else "refused"] += 1
    if line["late_s"] > 0.0:
        counts["late beside others" if line["others"] > _OTHERS else "late"] += 1


def _round(judge: Judge, asked: argparse.Namespace, end: float) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    budgets = st.floats(asked.least, asked.most)

    @seed(asked.seed)
    @settings(
        max_examples=_ROUND, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(
        st.one_of(
            st.tuples(st.one_of(trees(), large_links()), st.sampled_from(_VERBS), budgets),
            st.tuples(large_links(), st.sampled_from(_VERBS), budgets),
            st.tuples(networks(), st.sampled_from(_VERBS_OF_NETWORKS), budgets),
        )
    )
    def cases(case: tuple[dict[str, Any], str, float]) -> None:
        if time.monotonic() < end:
            tree, verb, budget_s = case
            if verb == "size":
                tree.setdefault("goals", {"utilization": 0.9})
            lines.append(_one(judge, tomli_w.dumps(tree), f"{verb} in {budget_s:.2g} s"))

    cases()
    return lines


def _one(judge: Judge, text: str, ask: str) -> dict[str, Any]:
    """Run one case, and look what the machine did beside it."""
    began, before = time.monotonic(), _busy_s()
    wrong, reply = judge.wrong_with(text, [ask])
    passed_s = time.monotonic() - began
    cpu_s = reply.get("cpu_s", 0.0)
    late_s = reply.get("late_s", 0.0)
    return {
        "ask": ask, "wrong": wrong, "said": reply.get("answered", []),
        "passed_s": round(passed_s, 2), "late_s": round(late_s, 2), "cpu_s": round(cpu_s, 2),
        "others": round((_busy_s() - before - cpu_s) / max(passed_s, 1e-3), 2),
        "peak_mb": reply.get("peak_bytes", 0) // 10**6,
        "text": text if wrong or late_s > 0.0 else "",
    }  # fmt: skip


def _busy_s() -> float:
    """Return the seconds that all processors were in use, or taken away, since the start."""
    user, nice, system, _, _, irq, softirq, steal = (
        float(each) / 100.0 for each in Path("/proc/stat").read_text().split()[1:9]
    )
    return user + nice + system + irq + softirq + steal


@contextmanager
def _busy(loops: int) -> Iterator[None]:
    line = [sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(line) for _ in range(loops)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


if __name__ == "__main__":
    raise SystemExit(main())
