"""Recognition of the platform of a snippet."""

from __future__ import annotations

import re
from functools import cache

from forebay.errors import argument
from forebay.platforms.errors import PlatformError
from forebay.platforms.protocol import Platform
from forebay.platforms.registry import get, readable
from forebay.platforms.snippet import Snippet

_LONGEST_LINE = 2000  # longer lines are skipped, to limit the time of regular expressions
_OWN_MARK = 1000
_WITHOUT_QUEUES = re.compile(r"^(frr (version|defaults)\s|service integrated-vtysh-config)", re.M)


def recognise(snippet: Snippet) -> Platform:
    """Return the platform with the most matches. Raises PlatformError if none is clear."""
    lines = [line for line in snippet.text.split("\n") if len(line) <= _LONGEST_LINE]
    scores = {name: _score(name, lines) for name in readable()}
    most = max(scores.values())
    if not most and _WITHOUT_QUEUES.search(snippet.text):
        wrong = "this is FRR's configuration, which sets no queue"
        raise PlatformError("no-queue", wrong, 'lint what "tc -s qdisc show" says on its host')
    likeliest = [name for name, score in scores.items() if score == most and score]
    if len(likeliest) != 1:
        raise _unclear(likeliest)
    return get(likeliest[0])


def _score(name: str, lines: list[str]) -> int:
    marks = _OWN_MARK * any(mark(name) in line for line in lines[:5])
    return marks + sum(any(tell.search(line) for line in lines) for tell in _tells(name))


@cache
def _tells(name: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(tell) for tell in get(name).tells)


def mark(name: str) -> str:
    """Return the text that marks Forebay's own output."""
    return f"Forebay for {name}:"


def _unclear(likeliest: list[str]) -> PlatformError:
    between = f"it may be {' or '.join(likeliest)}" if likeliest else "it has no known statements"
    wrong = f"cannot recognise the platform of this text: {between}"
    return PlatformError(
        "unclear-platform", wrong, f"write {argument('platform')} as one of {', '.join(readable())}"
    )
