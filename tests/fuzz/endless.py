"""``make fuzz``: random scenarios for as long as one likes; goes on where it stopped.

What goes wrong is made as small as it can be, kept in tests/fuzz/corpus, and replayed by every
test run from then on.
"""

import argparse
import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tomli_w
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from judge import CORPUS, Judge
from scenarios import networks, trees

STATE = Path(__file__).parents[2] / "build" / "fuzz.json"
_ROUND = 50
_BUDGET = st.builds("{} in {:.2g} s".format, st.sampled_from(["size", "run"]), st.floats(0.5, 3.0))
_MORE = st.one_of(
    st.sampled_from([[], [], [], ["trace"], ["size"], ["seeds"]]), _BUDGET.map(lambda ask: [ask])
)
_SCENARIOS = st.tuples(trees(), _MORE.map(lambda more: ["theory", "simulation", *more]))
_NETWORKS = st.tuples(networks(), _BUDGET.map(lambda ask: [ask]))
"""Of any size: without a budget some of them run for minutes."""


class Tally:
    """What was run so far, kept in a file."""

    def __init__(self) -> None:
        self.counts = {
            "rounds": 0, "cases": 0, "answered": 0, "refused": 0, "wrong": 0, "in_a_row": 0,
            "late": 0, "cpu_s": 0.0, "most_cpu_s": 0.0, "most_bytes": 0,
        }  # fmt: skip
        if STATE.exists():
            self.counts.update(json.loads(STATE.read_text()))

    def take(self, wrong: str, reply: dict[str, Any]) -> None:
        """Count one case. Refused is one that nothing simulated."""
        counts = self.counts
        counts["cases"] += 1
        if wrong:
            counts["wrong"] += 1
            counts["in_a_row"] = 0
            return
        answered = any("theory" not in each and "done" in each for each in reply["answered"])
        counts["answered" if answered else "refused"] += 1
        counts["in_a_row"] += answered
        counts["late"] += reply["late_s"] > 0.0
        counts["cpu_s"] += reply["cpu_s"]
        counts["most_cpu_s"] = max(counts["most_cpu_s"], reply["cpu_s"])
        counts["most_bytes"] = max(counts["most_bytes"], reply["peak_bytes"])

    def keep(self) -> None:
        STATE.parent.mkdir(exist_ok=True)
        STATE.write_text(json.dumps(self.counts, indent=1))


def main() -> int:
    """Run rounds until the time is over; 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    end = time.monotonic() + 60 * parser.parse_args().minutes
    judge, tally, found = Judge(), Tally(), 0
    try:
        while time.monotonic() < end:
            found += one_round(judge, tally, end)
            tally.counts["rounds"] += 1
            tally.keep()
            say(tally, end)
    except KeyboardInterrupt:
        print("stopped; `make fuzz` goes on from the last round")
    finally:
        judge.close()
    return 1 if found else 0


def one_round(judge: Judge, tally: Tally, end: float) -> int:
    """Run some cases; a failure is kept. Return how many there are, 0 or 1."""
    last: list[str] = []

    @seed(tally.counts["rounds"])
    @settings(
        max_examples=_ROUND, deadline=None, database=None, phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.one_of(_SCENARIOS, _SCENARIOS, _NETWORKS))
    def cases(case: tuple[dict[str, Any], list[str]]) -> None:
        if time.monotonic() > end and not last:
            return
        tree, asks = case
        text = tomli_w.dumps(tree)
        wrong, reply = judge.wrong_with(text, asks)
        if not last:
            tally.take(wrong, reply)
        if wrong:
            last[:] = [wrong, text]
            raise AssertionError(wrong)

    return _caught(cases, last)


def _caught(cases: Callable[[], None], last: list[str]) -> int:
    try:
        cases()
    except AssertionError:
        wrong, text = last
        path = CORPUS / f"found-{hashlib.sha256(text.encode()).hexdigest()[:12]}.toml"
        said = "".join(f"# {line}\n" for line in wrong.splitlines())
        path.write_text(said + text)
        print(f"wrong: {wrong}\nkept as {path}", flush=True)
        return 1
    return 0


def say(tally: Tally, end: float) -> None:
    counts, left = tally.counts, max(0.0, end - time.monotonic())
    print(
        f"{counts['cases']} cases: {counts['answered']} answered, {counts['refused']} refused, "
        f"{counts['wrong']} wrong, {counts['late']} late, {counts['in_a_row']} in a row; at most "
        f"{counts['most_cpu_s']:.1f} s and {counts['most_bytes'] / 1e6:.0f} MB; "
        f"{left / 60:.1f} min left",
        flush=True,
    )


if __name__ == "__main__":
    raise SystemExit(main())
