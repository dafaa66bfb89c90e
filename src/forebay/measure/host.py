"""Estimates of a sending host's own flows, from the output of `ss -tin` and `nstat`.

The host's flows are at most a part of the link's flows, so the number in congestion avoidance is a
lower bound of n. Fields have the names of iproute2's ss and the kernel's SNMP counters.
"""

from __future__ import annotations

import os
import re
from collections import Counter

import numpy as np

from forebay.measure.errors import MeasureError
from forebay.measure.estimate import Estimate, quantiles, share
from forebay.measure.estimates import Estimates
from forebay.measure.measurement import Measured
from forebay.measure.text_files import read_text

_CWND = re.compile(r"\bcwnd:(\d+)\b")
_SSTHRESH = re.compile(r"\bssthresh:(\d+)\b")
_RTT = re.compile(r"(?<![a-z])rtt:([0-9.]+)/[0-9.]+")
_MIN_RTT = re.compile(r"\bminrtt:([0-9.]+)\b")
_BUSY = re.compile(r"\b(?:unacked|notsent):[1-9]")
_COUNTER = re.compile(r"^#?(Tcp\w+)\s+(\d+)\b", re.MULTILINE)
_ONE_HOST = "this host's flows, which may take other links than the one in question"


def host(
    *, ss: str | os.PathLike[str] | None = None, nstat: str | os.PathLike[str] | None = None
) -> Measured:
    """Estimate from the output of ``ss -tin`` and of ``nstat``.

    Raises
    ------
    MeasureError
        A file cannot be read, or is not such output.
    """
    if ss is None and nstat is None:
        raise MeasureError("nothing to measure; name the text of `ss -tin`, of `nstat`, or both")
    found, names = Estimates(), [os.fspath(name) for name in (ss, nstat) if name is not None]
    if ss is not None:
        _sockets(read_text(ss, "name a text file"), os.fspath(ss), found)
    if nstat is not None:
        _counters(read_text(nstat, "name a text file"), os.fspath(nstat), found)
    found.refuse("long_flows", "a host shows its own flows, not those of a link")
    none = "a host shows neither the link nor the other flows on it"
    return Measured(0, 0.0, found.estimates, found.refused, found.notes, sources=names,
                    not_made=none)  # fmt: skip


def _sockets(text: str, path: str, found: Estimates) -> None:
    told = [line for line in text.splitlines() if _CWND.search(line)]
    if not told:
        raise MeasureError(f"{path}: no line has a cwnd; write the output of `ss -tin`")
    busy = sum(1 for line in told if _BUSY.search(line))
    avoiding = sum(1 for line in told if _avoids(line) and _BUSY.search(line))
    found.estimates["connections"] = Estimate(len(told), None, None, len(told), _ONE_HOST)
    found.estimates["sending"] = Estimate(busy, None, None, len(told), "with data unacknowledged")
    above = "sending, and cwnd at least ssthresh; at most a part of n"
    found.estimates["in_avoidance"] = Estimate(avoiding, None, None, len(told), above)
    for name, pattern in (("rtt_s", _RTT), ("min_rtt_s", _MIN_RTT)):
        values = [float(hit[1]) * 1e-3 for line in told if (hit := pattern.search(line))]
        if values:
            distinct, counts = np.unique(values, return_counts=True)
            found.estimates[name] = quantiles(distinct, counts, len(values))
        else:
            found.refuse(name, f"{path} has none")
    controls = Counter(line.split()[0] for line in told)
    found.notes.append(
        "congestion control: " + ", ".join(f"{name} {count}" for name, count in controls.items())
    )


def _avoids(line: str) -> bool:
    """Return whether a socket has left slow start; without ssthresh it never has."""
    threshold, window = _SSTHRESH.search(line), _CWND.search(line)
    return bool(threshold and window and int(window[1]) >= int(threshold[1]))


def _counters(text: str, path: str, found: Estimates) -> None:
    counts = {name: int(number) for name, number in _COUNTER.findall(text)}
    sent, again = counts.get("TcpOutSegs"), counts.get("TcpRetransSegs", 0)
    if not sent:
        raise MeasureError(
            f"{path}: no TcpOutSegs above 0; write the output of `nstat` or `nstat -a`"
        )
    needless = "segments without data count as sent, and needless retransmissions as such: "
    bias = f"{needless}no loss rate; {_ONE_HOST}"
    found.estimates["retransmitted_share"] = share(min(again, sent), sent, bias)
    timeouts = counts.get("TcpExtTCPTimeouts")
    if timeouts is not None:
        found.estimates["timeouts"] = Estimate(timeouts, None, None, sent)
