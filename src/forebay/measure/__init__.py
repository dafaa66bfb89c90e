"""Estimates of the traffic, each with its error, and a scenario, from an operator's records.

The number of flows n of the laws is that of TCP flows in congestion avoidance which cross *this*
link at one time. It is neither the number of five-tuples in a capture (``tuples``) nor that of open
connections (``concurrent_flows``), and neither of these replaces it.
"""

from forebay.measure.capture import capture
from forebay.measure.counters import counters, snmp
from forebay.measure.estimate import Estimate, Measured, MeasureError, Refused
from forebay.measure.exports import exports, listen
from forebay.measure.host import host
from forebay.measure.judging import Judgement, judge

__all__ = [
    "Estimate", "Judgement", "MeasureError", "Measured", "Refused", "capture", "counters",
    "exports", "host", "judge", "listen", "snmp",
]  # fmt: skip
