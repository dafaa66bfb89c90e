"""All platforms by name, and those that are refused, with the reason."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

from forebay.errors import argument
from forebay.platforms.errors import PlatformError, short
from forebay.platforms.protocol import Platform
from forebay.platforms.snippet import Snippet

# name: module of this package with its PLATFORM
_PLATFORMS = {
    "ios-xr": "ios_xr",
    "ios-xe": "ios_xe",
    "nx-os": "nx_os",
    "junos": "junos",
    "sros": "sros",
    "sonic": "sonic",
    "openconfig": "openconfig",
    "linux-tc": "linux_tc",
    "vyos": "vyos",
    "mikrotik": "mikrotik",
    "systemd-networkd": "networkd",
    "dummynet": "dummynet",
}

REFUSED = {
    "eos": "no public page was found that says how a tail-drop size of one queue is written "
    "there, what it counts and how chips round it; only a step of ECN marks (K) is written",
    "vrp": "no public page was found that says what its lengths count and how they round",
}
"""Platforms for which no size is written, because a wrong line would be worse than none.

Their texts are read, by the module of that name.
"""

_SAME = {
    "arista": "eos",
    "arista-eos": "eos",
    "nxos": "nx-os",
    "nexus": "nx-os",
    "huawei": "vrp",
    "ipfw": "dummynet",
    "networkd": "systemd-networkd",
}


def names() -> tuple[str, ...]:
    """Return the names of all platforms for which a size can be written."""
    return tuple(_PLATFORMS)


def readable() -> tuple[str, ...]:
    """Return the names of all platforms whose text can be read."""
    return (*_PLATFORMS, *REFUSED)


def get(name: str) -> Platform:
    """Return a platform. Raises PlatformError for an unknown one."""
    known = _SAME.get(name, name)
    if known not in readable():
        wrong = f'"{short(name)}" is not a platform of Forebay'
        raise PlatformError("unknown-platform", wrong, f"write one of {', '.join(names())}")
    platform: Platform = import_module(f"forebay.platforms.{_PLATFORMS.get(known, known)}").PLATFORM
    return platform


def refused(name: str) -> PlatformError:
    """Return the error for a refused platform."""
    wrong = f"{name} is refused: {REFUSED[name]}"
    hint = "use the bytes and milliseconds of another platform's comment, and its own manual"
    return PlatformError("not-verified", wrong, hint)


_LONGEST_LINE = 2000  # longer lines are skipped, to limit the time of regular expressions
_OWN_MARK = 1000
_WITHOUT_QUEUES = re.compile(r"^(frr (version|defaults)\s|service integrated-vtysh-config)", re.M)


def recognise(snippet: Snippet) -> Platform:
    """Return the platform with the most matches. Raises PlatformError if none is clear."""
    lines = [line for line in snippet.text.split("\n") if len(line) <= _LONGEST_LINE]
    scores = {}
    for name in readable():
        marks = _OWN_MARK * any(mark(name) in line for line in lines[:5])
        told = sum(any(tell.search(line) for line in lines) for tell in _tells(name))
        scores[name] = marks + told
    most = max(scores.values())
    if not most and _WITHOUT_QUEUES.search(snippet.text):
        wrong = "this is FRR's configuration, which sets no queue"
        raise PlatformError("no-queue", wrong, 'lint what "tc -s qdisc show" says on its host')
    likeliest = [name for name, score in scores.items() if score == most and score]
    if len(likeliest) != 1:
        between = f"it may be {' or '.join(likeliest)}"
        if not likeliest:
            between = "it has no known statements"
        wrong = f"cannot recognise the platform of this text: {between}"
        hint = f"write {argument('platform')} as one of {', '.join(readable())}"
        raise PlatformError("unclear-platform", wrong, hint)
    return get(likeliest[0])


@cache
def _tells(name: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(tell) for tell in get(name).tells)


def mark(name: str) -> str:
    """Return the text that marks Forebay's own output."""
    return f"Forebay for {name}:"
