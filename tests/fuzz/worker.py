"""Runs scenarios that are given on standard input, a line of JSON each, and says how each went.

A process of its own, so that a panic, an endless loop or a hunger for memory ends here.
"""

import contextlib
import io
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

MOST_ADDRESSES = 8 * 10**9


def main() -> None:
    """Answer each line with a line."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
    import forebay.scenario  # noqa: F401 - before the clock of the first scenario runs

    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(one(json.loads(line))), file=answers, flush=True)


def one(asked: dict[str, Any]) -> dict[str, Any]:
    """Run one scenario; the reply's ``wrong`` is empty where all is well."""
    _forget_peak()
    began = time.process_time()
    answered, wrong, late_s = [], "", 0.0
    for ask in asked["asks"]:
        asked_at = time.monotonic()
        try:
            done = _run(asked["text"], ask, asked["seed"])
        except BaseException as error:
            done = _refusal(error)
            if not done:
                wrong = f"{ask}: {type(error).__name__}: {str(error)[:600]}"
                break
        answered.append(f"{ask}: {done}")
        late_s = max(late_s, _late_s(ask, time.monotonic() - asked_at))
    return {
        "wrong": wrong,
        "late_s": late_s,
        "answered": answered,
        "cpu_s": time.process_time() - began,
        "peak_bytes": _peak(),
    }


def _late_s(ask: str, passed_s: float) -> float:
    """Return the seconds after the latest end of an ask with a budget; 0 for others."""
    _, within, budget = ask.partition(" in ")
    if not within:
        return 0.0
    budget_s = float(budget.removesuffix(" s"))
    return max(0.0, passed_s - max(budget_s + 2.0, 1.2 * budget_s))


def _run(text: str, ask: str, seed: int) -> str:
    import forebay
    from forebay.scenario import loads

    scenario = loads(text)
    if ask in ("theory", "simulation"):
        outcome = forebay.run(scenario, ask, seed=seed)
        _check(outcome)
    elif ask == "seeds":
        _check(forebay.run(scenario, "simulation", seed=seed, seeds=3, jobs=2))
    elif ask == "trace":
        step = f"{scenario.measure.duration / 50:.9g} s"
        trace = forebay.trace(scenario, step=step, flows=(), seed=seed)
        json.dumps(trace.to_dict(), allow_nan=False)
    elif " in " in ask:
        verb, budget = ask.split(" in ")
        _within(scenario, verb, budget, seed)
    elif ask == "size":
        answer = forebay.size(scenario, "theory", seed=seed)
        json.dumps(answer.to_dict(), allow_nan=False)
    else:
        raise LookupError(ask)
    return "done"


def _within(scenario: Any, verb: str, budget: str, seed: int) -> None:
    """Run, compare or size within a budget such as "1.5 s"; a size lies in its own interval."""
    import forebay

    if verb == "run":
        _check(forebay.run(scenario, seed=seed, budget=budget))
        return
    if verb == "compare":
        for outcome in forebay.compare(scenario, seed=seed, budget=budget):
            _check(outcome)
        return
    link_class = "core" if verb == "links" else None
    answer = forebay.size(scenario, seed=seed, budget=budget, link_class=link_class)
    json.dumps(answer.to_dict(), allow_nan=False)
    found = answer.buffer
    if found is not None and not found.low <= found.packets <= found.high:
        raise AssertionError(f"outside its interval: {found}")


def _check(outcome: Any) -> None:
    """Hold an Outcome against every invariant, and print it as a user would."""
    from forebay.outcome.invariants import violations
    from forebay.report import print_outcome

    found = violations(outcome)
    if found:
        raise AssertionError(f"impossible: {found[:3]}")
    for name, link in outcome.links.items():
        for share in (link.utilization, link.loss_rate):
            if share is not None and share.value > 1.0:  # the invariant leaves room for rounding
                raise AssertionError(f"above 1: {name}, {share.value!r}")
    json.dumps(outcome.model_dump(mode="json", by_alias=True), allow_nan=False)
    with contextlib.redirect_stdout(io.StringIO()):
        print_outcome(outcome)


def _refusal(error: BaseException) -> str:
    """Return the code of an error that a user is told in one line; "" for any other."""
    status = getattr(error, "exit_status", None)
    if status not in (1, 2, 3) or "\n" in str(error):
        return ""
    return f"refused ({getattr(error, 'code', type(error).__name__)})"


def _forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return 1024 * int(line.split()[1])
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
