"""The smallest buffer that a stopped search had found to meet the goals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.outcome import SizeResult, Verdict
from forebay.sizing import region
from forebay.sizing.assemble import found
from forebay.sizing.question import Question

if TYPE_CHECKING:
    from forebay.sizing.question import Trial


def best_so_far(question: Question) -> SizeResult | None:
    """Return the smallest buffer that was found to meet all goals; None if there is none.

    Also None if a larger buffer misses a goal that more buffer helps to meet: noise reversed one
    of the two, and the search had not yet found which. Nothing more is run.
    """
    tried = sorted(question.trials.done.items())
    too_small = [b for b, trial in tried if trial.verdict(question.up) is Verdict.MISSED]
    below = max(too_small, default=0)
    run = _first_run([(b, trial) for b, trial in tried if b > below])
    if not run:
        return None
    least, most = run[0], run[-1]
    if most == tried[-1][0] and not question.down:
        most = question.limit
    spans = region.intervals(question, [(least, max(least, most))])
    low = below + 1 if question.up else least
    return found(question, spans, low, question.trials.done[least], look=False)


def _first_run(tried: list[tuple[int, Trial]]) -> list[int]:
    """Return the first run of consecutive tried buffers that meet all goals."""
    run: list[int] = []
    for packets, trial in tried:
        if trial.verdict(trial.goals) is Verdict.MET:
            run.append(packets)
        elif run:
            break
    return run
