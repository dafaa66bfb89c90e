"""The AQM of a scenario's queue as a platform writes it, and what of it is not written."""

from __future__ import annotations

from typing import Any

from forebay.catalogue import DISCIPLINES
from forebay.catalogue.disciplines import CAKE_TARGETS, RED_SPREAD
from forebay.outcome import Aqm, AqmTarget, AqmThresholds
from forebay.platforms.errors import PlatformError
from forebay.platforms.port import Port
from forebay.scenario import Scenario

_WRITTEN = ("min", "max", "probability", "ecn", "target", "interval", "rtt")


def aqm_of(scenario: Scenario, port: Port, source: str) -> Aqm | None:
    """Return the AQM of a scenario's queue; None for a drop-tail one.

    Raises PlatformError for a red without thresholds, which nobody chose.
    """
    queue, record = scenario.queue, DISCIPLINES[scenario.queue.discipline]
    if record.sized == "limit":
        return None
    ecn = queue.ecn if queue.ecn is not None else bool(record.parameters.get("ecn"))
    common: dict[str, Any] = {
        "discipline": record.name,
        "packet_s": port.seconds(port.packet_bytes),
        "packet_bytes": port.packet_bytes,
        "limit_packets": scenario.buffer_packets,
        "ecn": ecn,
    }
    if record.sized == "thresholds":
        low, high = _thresholds(scenario, source)
        chance = queue.probability or record.parameters["probability"] or 0.0
        return AqmThresholds(**common, min_bytes=low, max_bytes=high, probability=chance)
    if record.name == "cake":
        rtt = float(queue.rtt or record.parameters["rtt"] or 0.0)
        return AqmTarget(**common, target_s=rtt / CAKE_TARGETS, interval_s=rtt)
    target = float(queue.target or record.default_target_s or 0.0)
    interval = queue.interval or record.parameters.get("interval")
    return AqmTarget(**common, target_s=target, interval_s=float(interval) if interval else None)


def _thresholds(scenario: Scenario, source: str) -> tuple[int, int]:
    low, high = scenario.queue.min, scenario.queue.max
    if low is None and high is None:
        wrong = f"{source}: red has no min and no max, and nobody chose the defaults"
        raise PlatformError("not-sized", wrong, "write queue.min and queue.max into it")
    if low is None:
        assert high is not None
        return max(1, int(high) // RED_SPREAD), int(high)
    return int(low), RED_SPREAD * int(low) if high is None else int(high)


def unwritten(scenario: Scenario) -> tuple[str, ...]:
    """Return what the scenario sets of its queue and no platform's lines have."""
    queue = scenario.queue
    record = DISCIPLINES[queue.discipline]
    found = [name for name in queue.parameters if name not in _WRITTEN]
    if queue.ecn is False and record.parameters.get("ecn"):
        found.append("ecn = false")
    if queue.weight is not None and "weight" in found and _is_step(scenario):
        found.remove("weight")  # lines of a step mark by the present queue
    if queue.discipline == "pfifo_head_drop":
        found.append("pfifo_head_drop (the lines drop the newest packet)")
    return tuple(found)


def _is_step(scenario: Scenario) -> bool:
    queue = scenario.queue
    if queue.min is None or queue.max is None:
        return False
    return queue.weight == 1 and queue.max - queue.min <= int(scenario.packet)
