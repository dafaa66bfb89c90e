"""Estimates of a sending host's own flows, from the output of `ss -tin` and `nstat`.

The host's flows are at most a part of the link's flows, so the number in congestion avoidance is a
lower bound of n. Fields have the names of iproute2's ss and the kernel's SNMP counters.
"""

import os
import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from forebay.measure.estimate import Measured, MeasureError, quantiles, share
from forebay.measure.records import read_text
from forebay.words import Fact

_ADDRESS = re.compile(r"(?<!\S)(\[?[0-9A-Fa-f.:*]+\]?(?:%\S+?)?\]?|[\w.-]+):(\d+|[\w-]+)(?!\S)")
_NUMBER = re.compile(r"(?<![\w.])(\w+):([0-9.]{1,20})(?:/([0-9.]{1,20}))?(?![0-9.])")
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
        return not self.local.startswith(_LOCAL) and any(sample.is_busy for sample in self.samples)


def sockets(text: str) -> list[Socket]:
    """Return every socket of a text, in the order of its first sample."""
    listed: dict[tuple[str, str], Socket] = {}
    ends, state = ("", ""), ""
    for number, line in enumerate(text.splitlines()):
        if line[:1].strip():  # the line of addresses; with -O of everything
            pairs = [f"{address}:{port}" for address, port in _ADDRESS.findall(line)[:2]]
            local, peer = pairs if len(pairs) == 2 else (str(number), "")
            ends, state = (local, peer), line.split()[0]
        sample = _sample(line)
        if "cwnd" in sample.numbers and state not in _WITHOUT_FLOW:
            key = ends if ends[0] else (str(number), "")  # lines without addresses, as pasted
            listed.setdefault(key, Socket(key[0])).samples.append(sample)
    return list(listed.values())


def _sample(line: str) -> Sample:
    control = _CONTROL.search(line)
    numbers = {}
    for name, first, second in _NUMBER.findall(line):
        value = second if name == "retrans" and second else first
        if name not in numbers and value.replace(".", "", 1).isdigit():
            numbers[name] = float(value)
    return Sample(control[1] if control else "unknown", numbers)


_COUNTER = re.compile(r"^#?(Tcp\w+)\s+([0-9]{1,20})\b", re.MULTILINE)


def host(
    *, ss: str | os.PathLike[str] | None = None, nstat: str | os.PathLike[str] | None = None
) -> Measured:
    """Estimate from the output of ``ss -tin`` and of ``nstat``.

    Raises MeasureError if a file cannot be read, or is not such output.
    """
    if ss is None and nstat is None:
        raise MeasureError("measure.nothing")
    found = Measured(sources=[os.fspath(name) for name in (ss, nstat) if name is not None])
    if ss is not None:
        _sockets(read_text(ss, Fact("write.text")), os.fspath(ss), found)
    if nstat is not None:
        _counters(read_text(nstat, Fact("write.text")), os.fspath(nstat), found)
    found.refuse("long_flows", "host.not-of-a-link")
    found.not_made = Fact("no-scenario.of-a-host")
    return found


def _sockets(text: str, path: str, found: Measured) -> None:
    listed = sockets(text)
    if not listed:
        raise MeasureError("measure.no-cwnd", file=path)
    busy = [socket for socket in listed if socket.is_busy]
    avoiding = sum(socket.last.avoids for socket in busy)
    found.add("connections", len(busy), len(busy), "bias.one-host")
    sending = sum(socket.last.is_busy for socket in busy)
    found.add("sending", sending, len(busy), "bias.sending")
    found.add("in_avoidance", avoiding, len(busy), "bias.in-avoidance")
    samples = [one for socket in busy for one in socket.samples if one.is_busy]
    for name, key in (("rtt_s", "rtt"), ("min_rtt_s", "minrtt")):
        values = [1e-3 * one.numbers[key] for one in samples if key in one.numbers]
        if values:
            distinct, counts = np.unique(values, return_counts=True)
            found.estimates[name] = quantiles(distinct, counts, len(values))
        else:
            found.refuse(name, "host.none" if busy else "host.idle", path=path)
    _retransmissions(busy, path, found)
    _tell(listed, busy, found)


def _retransmissions(busy: list[Socket], path: str, found: Measured) -> None:
    """Add the share that was sent again over the life of the sockets, in bytes or segments."""
    for again, sent in (("bytes_retrans", "bytes_sent"), ("retrans", "data_segs_out")):
        known = [socket.last.numbers for socket in busy if socket.last.numbers.get(sent)]
        if known:
            total = int(sum(one[sent] for one in known))
            lost = min(int(sum(one.get(again, 0.0) for one in known)), total)
            told = share(lost, total, "bias.sent-again", host=Fact("bias.one-host"))
            found.estimates["socket_retransmitted_share"] = told
            return
    why = "host.nothing-sent" if busy else "host.idle"
    found.refuse("socket_retransmitted_share", why, path=path)


def _tell(listed: list[Socket], busy: list[Socket], found: Measured) -> None:
    controls = Counter(socket.last.control for socket in busy)
    if controls:
        shares = ", ".join(f"{name} {count}" for name, count in controls.items())
        found.note("host.controls", shares=shares)
    if idle := len(listed) - len(busy):
        found.note("host.left-out", idle=idle)
    samples = sum(len(socket.samples) for socket in busy)
    if samples > len(busy):
        found.note("host.samples", samples=samples, sockets=len(busy))


def _counters(text: str, path: str, found: Measured) -> None:
    counts = {name: int(number) for name, number in _COUNTER.findall(text)}
    sent, again = counts.get("TcpOutSegs"), counts.get("TcpRetransSegs", 0)
    if not sent:
        raise MeasureError("measure.no-segments", file=path)
    told = share(min(again, sent), sent, "bias.segments-again", host=Fact("bias.one-host"))
    found.estimates["retransmitted_share"] = told
    timeouts = counts.get("TcpExtTCPTimeouts")
    if timeouts is not None:
        found.add("timeouts", timeouts, sent)
