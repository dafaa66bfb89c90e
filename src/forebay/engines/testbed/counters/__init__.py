"""Counts by the papers' methods: SNMP's interface counters and NetFlow, next to the router's own.

Both are read where a router has them: at the receivers' input device, by independent programs.
"""

from __future__ import annotations

from forebay.engines.testbed.counters.agreement import agreement
from forebay.engines.testbed.counters.reading import NAMES, Counters, check, counting

__all__ = ["NAMES", "Counters", "agreement", "check", "counting"]
