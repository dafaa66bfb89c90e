"""The scenario that tests begin with: a small link, and what a test changes of it."""

from collections.abc import Mapping
from typing import Any

from forebay.scenario import Scenario, loads

TEXT = """
link.rate = "10 Mbit/s"
queue.size = "20 packets"
measure = { warmup = "1 s", duration = "2 s" }
[[traffic]]
flows = 4
rtt = "20 ms"
"""
PAIR = """
link = { rate = "5 Mbit/s", delay = "9 ms" }
traffic = [{ flows = 9 }]
[topology]
model = "hisamatsu-2007"
links = [{ between = ["A", "B"], buffer = "9 packets" }]
"""
"""A network of one link."""


def scenario(changes: Mapping[str, Any] | None = None) -> Scenario:
    """Return the small link with other values at dotted paths, as `Scenario.replace` takes them."""
    return loads(TEXT).replace(changes or {})
