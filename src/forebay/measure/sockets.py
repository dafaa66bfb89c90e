"""The sockets of ``ss -ti``: with any of -n, -O, -m, -o, -e, and sampled once or often."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_ADDRESS = re.compile(r"(?<!\S)(\[?[0-9A-Fa-f.:*]+\]?(?:%\S+?)?\]?|[\w.-]+):(\d+|[\w-]+)(?!\S)")
_NUMBER = re.compile(r"(?<![\w.])(\w+):([0-9.]+)(?:/([0-9.]+))?")
_CONTROL = re.compile(r"(?<!\S)([a-z][\w-]*) (?:wscale:\S+ )?rto:")
_WITHOUT_FLOW = ("LISTEN", "UNCONN", "TIME-WAIT", "CLOSED")
_LOCAL = ("127.", "[::1]", "::1", "[::ffff:127.", "localhost")


@dataclass(frozen=True, slots=True)
class Sample:
    """What ss says of a socket once; ``numbers`` by ss's names, of retrans the total."""

    control: str
    numbers: dict[str, float]

    @property
    def is_busy(self) -> bool:
        """Whether it has data unacknowledged or not yet sent."""
        return any(self.numbers.get(key, 0.0) > 0.0 for key in ("unacked", "notsent"))

    @property
    def avoids(self) -> bool:
        """Whether it sends and has left slow start; without ssthresh it never has."""
        threshold = self.numbers.get("ssthresh")
        return self.is_busy and threshold is not None and self.numbers["cwnd"] >= threshold


@dataclass(slots=True)
class Socket:
    """A connection by its two addresses, with each of its samples in order."""

    local: str
    samples: list[Sample] = field(default_factory=list)

    @property
    def last(self) -> Sample:
        """The latest sample."""
        return self.samples[-1]

    @property
    def is_busy(self) -> bool:
        """Whether it had data in flight in some sample, and leaves the host."""
        return not self.local.startswith(_LOCAL) and any(each.is_busy for each in self.samples)


def sockets(text: str) -> list[Socket]:
    """Return every socket of a text, in the order of its first sample."""
    found: dict[tuple[str, str], Socket] = {}
    ends, state = ("", ""), ""
    for number, line in enumerate(text.splitlines()):
        if line[:1].strip():  # the line of addresses; with -O of everything
            ends, state = _ends(line) or (str(number), ""), line.split()[0]
        if "cwnd:" in line and state not in _WITHOUT_FLOW:
            key = ends if ends[0] else (str(number), "")  # lines without addresses, as pasted
            found.setdefault(key, Socket(key[0])).samples.append(_sample(line))
    return list(found.values())


def _ends(line: str) -> tuple[str, str] | None:
    """Return local and peer address of a line; None if it has none."""
    pairs = [f"{address}:{port}" for address, port in _ADDRESS.findall(line)[:2]]
    return (pairs[0], pairs[1]) if len(pairs) == 2 else None


def _sample(line: str) -> Sample:
    control = _CONTROL.search(line)
    numbers = {}
    for name, first, second in _NUMBER.findall(line):
        value = second if name == "retrans" and second else first
        if name not in numbers and value.replace(".", "", 1).isdigit():
            numbers[name] = float(value)
    return Sample(control[1] if control else "unknown", numbers)
