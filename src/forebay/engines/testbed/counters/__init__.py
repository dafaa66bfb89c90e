"""The papers' own readings of a run: SNMP's interface counters and NetFlow, beside the router's.

Both are read where a router's own would be: at the device that the packets come in by on the
receiving side, by programs that know nothing of us.
"""

from __future__ import annotations

from forebay.engines.testbed.counters.agreement import agreement
from forebay.engines.testbed.counters.reading import NAMES, Counters, check, counting

__all__ = ["NAMES", "Counters", "agreement", "check", "counting"]
