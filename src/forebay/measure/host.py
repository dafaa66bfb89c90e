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
_IDLE = "has idle sockets alone: none had data in flight when it was asked"
_ONE_HOST = "this host's flows, which may take other links than the one in question"


def host(
    *, ss: str | os.PathLike[str] | None = None, nstat: str | os.PathLike[str] | None = None
) -> Measured:
    """Estimate from the output of ``ss -tin`` and of ``nstat``.

    Raises MeasureError if a file cannot be read, or is not such output.
    """
    if ss is None and nstat is None:
        raise MeasureError("nothing to measure; name the text of `ss -tin`, of `nstat`, or both")
    found = Measured(sources=[os.fspath(name) for name in (ss, nstat) if name is not None])
    if ss is not None:
        _sockets(read_text(ss, "name a text file"), os.fspath(ss), found)
    if nstat is not None:
        _counters(read_text(nstat, "name a text file"), os.fspath(nstat), found)
    found.refuse("long_flows", "a host shows its own flows, not those of a link")
    found.not_made = "a host shows neither the link nor the other flows on it"
    return found


def _sockets(text: str, path: str, found: Measured) -> None:
    listed = sockets(text)
    if not listed:
        raise MeasureError(f"{path}: no line has a cwnd; write the output of `ss -tin`")
    busy = [socket for socket in listed if socket.is_busy]
    avoiding = sum(socket.last.avoids for socket in busy)
    found.add("connections", len(busy), len(busy), _ONE_HOST)
    sending, with_data = sum(socket.last.is_busy for socket in busy), "with data unacknowledged"
    found.add("sending", sending, len(busy), with_data)
    above = "sending, and cwnd at least ssthresh; at most a part of n"
    found.add("in_avoidance", avoiding, len(busy), above)
    samples = [one for socket in busy for one in socket.samples if one.is_busy]
    for name, key in (("rtt_s", "rtt"), ("min_rtt_s", "minrtt")):
        values = [1e-3 * one.numbers[key] for one in samples if key in one.numbers]
        if values:
            distinct, counts = np.unique(values, return_counts=True)
            found.estimates[name] = quantiles(distinct, counts, len(values))
        else:
            found.refuse(name, f"{path} {'has none' if busy else _IDLE}")
    _retransmissions(busy, path, found)
    _tell(listed, busy, found)


def _retransmissions(busy: list[Socket], path: str, found: Measured) -> None:
    """Add the share that was sent again over the life of the sockets, in bytes or segments."""
    for again, sent in (("bytes_retrans", "bytes_sent"), ("retrans", "data_segs_out")):
        known = [socket.last.numbers for socket in busy if socket.last.numbers.get(sent)]
        if known:
            total = int(sum(one[sent] for one in known))
            lost = min(int(sum(one.get(again, 0.0) for one in known)), total)
            bias = f"needless retransmissions count too: no loss rate; {_ONE_HOST}"
            found.estimates["socket_retransmitted_share"] = share(lost, total, bias)
            return
    why = "has neither bytes_sent nor data_segs_out" if busy else _IDLE
    found.refuse("socket_retransmitted_share", f"{path} {why}")


def _tell(listed: list[Socket], busy: list[Socket], found: Measured) -> None:
    controls = Counter(socket.last.control for socket in busy)
    if controls:
        shares = ", ".join(f"{name} {count}" for name, count in controls.items())
        found.notes.append(f"congestion control: {shares}")
    idle = len(listed) - len(busy)
    if idle:
        found.notes.append(f"{idle} idle or loopback socket{'' if idle == 1 else 's'} left out")
    samples = sum(len(socket.samples) for socket in busy)
    if samples > len(busy):
        said = f"{samples} samples of {len(busy)} sockets: the last one counts a socket"
        found.notes.append(said)


def _counters(text: str, path: str, found: Measured) -> None:
    counts = {name: int(number) for name, number in _COUNTER.findall(text)}
    sent, again = counts.get("TcpOutSegs"), counts.get("TcpRetransSegs", 0)
    if not sent:
        hint = "write the output of `nstat` or `nstat -a`"
        raise MeasureError(f"{path}: no TcpOutSegs above 0; {hint}")
    needless = "segments without data count as sent, and needless retransmissions as such: "
    bias = f"{needless}no loss rate; {_ONE_HOST}"
    found.estimates["retransmitted_share"] = share(min(again, sent), sent, bias)
    timeouts = counts.get("TcpExtTCPTimeouts")
    if timeouts is not None:
        found.add("timeouts", timeouts, sent)
