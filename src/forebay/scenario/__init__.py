"""What is asked: a scenario, read from TOML, with units, checked once at the door."""

from forebay.scenario.buffer_size import BufferSize
from forebay.scenario.congestion import CONGESTION_CONTROLS
from forebay.scenario.distribution import Distribution
from forebay.scenario.door import dumps, load, loads
from forebay.scenario.errors import ScenarioError
from forebay.scenario.flow_count import FlowCount
from forebay.scenario.goals import ClassGoals, Goals, QueueDelay
from forebay.scenario.model import BOTTLENECK, Link, Measure, OtherLink, Scenario
from forebay.scenario.quantity import DataSize, Duration, Rate
from forebay.scenario.queue import Queue
from forebay.scenario.target import AtLeast, AtMost
from forebay.scenario.traffic import Traffic

__all__ = [
    "BOTTLENECK",
    "CONGESTION_CONTROLS",
    "AtLeast",
    "AtMost",
    "BufferSize",
    "ClassGoals",
    "DataSize",
    "Distribution",
    "Duration",
    "FlowCount",
    "Goals",
    "Link",
    "Measure",
    "OtherLink",
    "Queue",
    "QueueDelay",
    "Rate",
    "Scenario",
    "ScenarioError",
    "Traffic",
    "dumps",
    "load",
    "loads",
]
