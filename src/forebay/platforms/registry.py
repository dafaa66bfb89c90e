"""The interface of a platform, how it writes a size and how it reads one; and all platforms."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from forebay.platforms.notes import Note
from forebay.platforms.reading import ConfiguredQueue, Port, Unread, Wanted
from forebay.platforms.snippet import PlatformError, Snippet, Statement, objects, short

_LONGEST = 2000  # limits the time of regular expressions on hostile lines

Read = frozenset[int | str]
Finder = Callable[[Snippet, Read], Iterator[Unread]]
"""Yields what a reader left out of a snippet; the set has the lines, or keys, that it read."""


def matching(
    pattern: str, statements: Callable[[Snippet], Iterable[Statement]] = Snippet.lines
) -> Finder:
    """Return the finder of statements that match a regular expression of all about buffers."""
    touches = re.compile(pattern)

    def find(snippet: Snippet, read: Read) -> Iterator[Unread]:
        for statement in statements(snippet):
            text = " ".join(statement.path)[:_LONGEST]
            if statement.line not in read and touches.search(text):
                yield Unread(statement.line, short(text))

    return find


def keys(*names: str) -> Finder:
    """Return the finder of a JSON document's keys about buffers that were not read."""

    def find(snippet: Snippet, read: Read) -> Iterator[Unread]:
        every = (key for part in objects(snippet.json()) for key in part)
        for key in dict.fromkeys(key for key in every if key.rpartition(":")[2] in names):
            if key not in read:
                yield Unread(line_of(snippet, key), key)

    return find


def line_of(snippet: Snippet, key: str) -> int:
    """Return the line of a key of JSON; 1 if it is not found as it is written."""
    before, separator, _ = snippet.text.partition(f"{json.dumps(key)}:")
    return before.count("\n") + 1 if separator else 1


@dataclass(frozen=True, slots=True)
class Order:
    """What to write: the buffer, the port, and the platform's choices.

    ``form`` is one of the platform's forms, ``model`` one of its models, ``interface`` the port's
    name. All three are checked before the platform gets them. ``name`` is the name of what the
    lines make, and ``number`` its number on a platform that numbers policies.
    """

    wanted: Wanted
    port: Port
    form: str
    model: str
    interface: str
    name: str = "FOREBAY"
    number: int = 100


@dataclass(frozen=True, slots=True)
class Written:
    """Configuration lines; ``rounding_bytes`` is the largest difference from the wanted size."""

    lines: tuple[str, ...]
    rounding_bytes: int
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Platform:
    """One router platform. The first form and the first model are the defaults.

    Attributes
    ----------
    comment : start of a comment, or None if the format (JSON) has no comments.
    forms : ways to write a size: "bytes", "packets", "time", …
    models : hardware on which the same statements have another meaning.
    rounds : how the device rounds a size, or that it does not; printed with every size.
    tells : regular expressions that recognise the platform's text, searched line by line.
    write : lines for an Order; raises PlatformError if the platform cannot express it.
    read : every queue of a Snippet on a Port, for a model; lazily, for snippets may be hostile.
    unread : finds the statements about buffers that no reading was made from.
    manages : queue disciplines that drop before they are full and that ``write`` takes, with a
        scenario's names.
    timed : how names of interfaces begin on which only the form "time" is taken.
    ports : (rate in bit/s, name) of the kinds of ports, slowest first, if names depend on the
        rate; the interface is then an example of the slowest port that carries the link.
    """

    name: str
    title: str
    forms: tuple[str, ...]
    models: tuple[str, ...]
    tells: tuple[str, ...]
    source: str
    rounds: Note
    write: Callable[[Order], Written]
    read: Callable[[Snippet, Port, str], Iterator[ConfiguredQueue]]
    unread: Finder
    comment: str | None = "#"
    interface: str = "eth0"
    manages: tuple[str, ...] = ()
    timed: tuple[str, ...] = ()
    ports: tuple[tuple[float, str], ...] = ()

    def port_name(self, rate_bps: float) -> str:
        """Return an example name of the slowest port that carries a rate."""
        return next((name for rate, name in self.ports if rate_bps <= rate), self.interface)


# name: module of this package with its record, whose constant has the name in capitals
_MODULES = {
    "ios-xr": "cisco", "ios-xe": "cisco", "nx-os": "cisco", "junos": "junos", "sros": "sros",
    "sonic": "data_models", "openconfig": "data_models", "linux-tc": "linux_tc", "vyos": "vyos",
    "mikrotik": "mikrotik", "systemd-networkd": "linux_tc", "dummynet": "dummynet",
    "eos": "read_alone", "vrp": "read_alone",
}  # fmt: skip

REFUSED = {
    "eos": "no public page was found that says how a tail-drop size of one queue is written "
    "there, what it counts and how chips round it; only a step of ECN marks (K) is written",
    "vrp": "no public page was found that says what its lengths count and how they round",
}
"""Platforms for which no size is written, because a wrong line would be worse than none.

Their texts are read.
"""

_SAME = {
    "arista": "eos", "arista-eos": "eos", "nxos": "nx-os", "nexus": "nx-os", "huawei": "vrp",
    "ipfw": "dummynet", "networkd": "systemd-networkd",
}  # fmt: skip


def names() -> tuple[str, ...]:
    """Return the names of all platforms for which a size can be written."""
    return tuple(name for name in _MODULES if name not in REFUSED)


def readable() -> tuple[str, ...]:
    """Return the names of all platforms whose text can be read."""
    return tuple(_MODULES)


def get(name: str) -> Platform:
    """Return a platform. Raises PlatformError for an unknown one."""
    known = _SAME.get(name, name)
    if known not in _MODULES:
        raise PlatformError("unknown-platform", value=name, known=", ".join(names()))
    module = import_module(f"forebay.platforms.{_MODULES[known]}")
    platform: Platform = getattr(module, known.upper().replace("-", "_"))
    return platform


def refused(name: str) -> PlatformError:
    """Return the error for a refused platform."""
    return PlatformError("not-verified", value=name, why=REFUSED[name])


_OWN_MARK = 1000
_WITHOUT_QUEUES = re.compile(r"^(frr (version|defaults)\s|service integrated-vtysh-config)", re.M)


def recognise(snippet: Snippet) -> Platform:
    """Return the platform with the most matches. Raises PlatformError if none is clear."""
    lines = [line for line in snippet.text.split("\n") if len(line) <= _LONGEST]
    scores = {}
    for name in readable():
        marks = _OWN_MARK * any(mark(name) in line for line in lines[:5])
        told = sum(any(tell.search(line) for line in lines) for tell in _tells(name))
        scores[name] = marks + told
    most = max(scores.values())
    if not most and _WITHOUT_QUEUES.search(snippet.text):
        raise PlatformError("no-queue.of-frr")
    likeliest = [name for name, score in scores.items() if score == most and score]
    if len(likeliest) != 1:
        raise PlatformError(
            "unclear-platform.several" if likeliest else "unclear-platform.none",
            likeliest=" or ".join(likeliest), known=", ".join(readable()),
        )  # fmt: skip
    return get(likeliest[0])


@cache
def _tells(name: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(tell) for tell in get(name).tells)


def mark(name: str) -> str:
    """Return the text that marks Forebay's own output."""
    return f"Forebay for {name}:"
