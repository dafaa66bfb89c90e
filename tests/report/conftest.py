"""Made-up answers that look like the simulator's on an OC3 link."""

import math
from typing import Any

import pytest
from tests.outcomes import around, class_of, link_of, outcome_of, quantiles

from forebay.outcome import Outcome, Quantiles
from forebay.reproduction import Reproduction

BDP = 1291.67


def spread(mean: float) -> Quantiles:
    each = {"mean": 1.0, "p50": 0.95, "p95": 1.5, "p99": 1.6}
    return quantiles(**{name: around(mean * k, 0.03 * mean * k) for name, k in each.items()})


def run_of(packets: int, engine: str = "simulation") -> Outcome:
    used = 1 - 0.06 * math.exp(-packets / 110)
    link = link_of(
        utilization=around(used, 0.02 * (1 - used) + 2e-4),
        loss_rate=around(0.012 / (1 + packets / 60), 2e-4),
        queue_packets=spread(packets * used**4 / 2),
        queue_delay_s=spread(packets * used**4 / 2 * 77.4e-6),
        buffer_packets=packets, bdp_packets=BDP,
    )  # fmt: skip
    flows = class_of(
        flows=100, throughput_bps=around(155e6 * used, 1e5),
        goodput_bps=around(154e6 * used, 1e5), jain=around(0.83, 0.01), rtt_s=spread(0.1),
        loss_rate=around(0.004, 2e-4), timeouts=around(41.0, 6.0),
    )  # fmt: skip
    scenario = {
        "name": "OC3 line card (Appenzeller et al. 2004, Figure 15)",
        "link": {"rate": "155 Mbit/s"},
        "traffic": [{"kind": "long", "flows": 100}],
    }
    few = ["fewer than 250 flows: windows may be synchronized"]
    more = {"scenario": scenario, "engine": engine, "broken_assumptions": few}
    return outcome_of(link, flows, seeds=(1, 2, 3, 4, 5), **more)


def reproduction(**changed: Any) -> Reproduction:
    made: dict[str, Any] = {
        "artefact": "A.fig15", "title": "Figure 15", "columns": ["flows", "printed", "ours"],
        "rows": [[100, 94.7, 94.9], [200, None, 97.0]], "reasons": ["", "no run"],
    }  # fmt: skip
    return Reproduction(**made | changed)


@pytest.fixture
def document() -> dict[str, Any]:
    """A sizing whose answer is 121 packets."""
    return sizing()


def sizing() -> dict[str, Any]:
    tried = [16, 32, 64, 92, 104, 117, 119, 120, 121, 129, 182, 258, 516, 1032, 2064]
    reached = run_of(121).links["bottleneck"].utilization
    few = ["fewer than 250 flows: windows may be synchronized"]
    laws: list[tuple[str, float | None, list[str]]] = [
        ("appenzeller-2004/rule-of-thumb", 1291.67, ["100 flows, not one"]),
        ("appenzeller-2004/sqrt-n", 129.17, few),
        ("appenzeller-2004/utilization", 127.9, few),
        ("appenzeller-2004/synchronized", 1291.67, []),
        ("appenzeller-2004/sawtooth", None, ["100 flows, not one"]),
    ]
    return {
        "schema": 1,
        "scenario": "OC3 line card (Appenzeller et al. 2004, Figure 15)",
        "engine": "simulation",
        "buffer": {"packets": 121, "bytes": 181500, "seconds": 0.009368, "low": 117, "high": 121},
        "recommended": {
            "packets": 129, "bytes": 193500, "seconds": 0.009987,
            "why": ["the least lies between 117 and 121 packets"],
        },
        "goals": [
            {
                "name": "utilization", "sense": "at least", "direction": "increasing", "unit": "",
                "target": 0.98, "reached": reached.model_dump(), "verdict": "met", "binding": True,
            }
        ],
        "laws": [
            {"law": law, "packets": packets, "assumptions_hold": not broken,
             "broken_assumptions": broken, "source": "paper A"}
            for law, packets, broken in laws
        ],
        "curve": [
            {"packets": packets, "seeds": 5, "verdict": "met" if packets >= 121 else "missed",
             "outcome": run_of(packets).model_dump(mode="json", by_alias=True)}
            for packets in tried
        ],
        "nearest": None,
        "largest": None,
        "limit": 5231,
        "reason": None,
        "notes": ["between 117 and 121 packets; 20 seeds cannot tell these apart"],
    }  # fmt: skip
