"""What is asked: a scenario, read from TOML, with units, checked once at the door."""

from forebay.scenario.buffer_size import BufferSize
from forebay.scenario.congestion import CONGESTION_CONTROLS
from forebay.scenario.distribution import Distribution
from forebay.scenario.door import dumps, load, loads
from forebay.scenario.errors import ScenarioError
from forebay.scenario.model import BOTTLENECK, Goals, Link, Measure, OtherLink, Scenario
from forebay.scenario.quantity import DataSize, Duration, Rate
from forebay.scenario.queue import Queue
from forebay.scenario.traffic import Traffic

__all__ = [
    "BOTTLENECK",
    "CONGESTION_CONTROLS",
    "BufferSize",
    "DataSize",
    "Distribution",
    "Duration",
    "Goals",
    "Link",
    "Measure",
    "OtherLink",
    "Queue",
    "Rate",
    "Scenario",
    "ScenarioError",
    "Traffic",
    "dumps",
    "load",
    "loads",
]
