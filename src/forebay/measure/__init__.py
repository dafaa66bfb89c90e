"""From an operator's own records to a scenario: estimates, each with its error.

What "flows" means here: the n of the laws counts the TCP flows in congestion avoidance that cross
*this* link at one time. It is neither the five-tuples that a capture holds (``tuples``), nor the
flows that are open at once (``concurrent_flows``), and neither of these may stand for it.
"""

from forebay.measure.answer import Measured
from forebay.measure.capture import capture
from forebay.measure.counters import counters
from forebay.measure.errors import MeasureError
from forebay.measure.estimate import Estimate, Refused
from forebay.measure.exports import exports, listen
from forebay.measure.host import host
from forebay.measure.snmp import snmp

__all__ = [
    "Estimate",
    "MeasureError",
    "Measured",
    "Refused",
    "capture",
    "counters",
    "exports",
    "host",
    "listen",
    "snmp",
]
