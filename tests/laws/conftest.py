"""One scenario for the laws' tests: the OC3 line card of paper A, Figure 15, n = 100."""

from collections.abc import Callable

import pytest

from forebay.scenario import Scenario, loads

_OC3 = """
link.rate = "155 Mbit/s"
queue.size = "129 packets"
goals.utilization = 0.98
[[traffic]]
kind = "long"
flows = 100
rtt = { uniform = ["80 ms", "120 ms"] }
sender = "ns2"
"""


@pytest.fixture
def oc3() -> Callable[..., Scenario]:
    """Makes the scenario, each argument a "PATH=VALUE" that overrides a field."""
    return lambda *overrides: loads(_OC3, overrides=overrides)
