"""What is asked: a scenario, read from TOML, with units, checked once at the door."""

from forebay.scenario.buffer_size import BufferSize
from forebay.scenario.congestion import CONGESTION_CONTROLS
from forebay.scenario.distribution import Distribution
from forebay.scenario.door import dumps, load, loads
from forebay.scenario.errors import ScenarioError
from forebay.scenario.flow_count import FlowCount
from forebay.scenario.flow_length import FlowLength
from forebay.scenario.goals import (
    COMPLETING_KINDS,
    OPEN_LOOP_KINDS,
    ClassGoals,
    Goals,
    QueueDelay,
)
from forebay.scenario.model import BOTTLENECK, Link, Measure, OtherLink, Scenario
from forebay.scenario.open_loop import OnOff, Udp
from forebay.scenario.packet_list import PacketList
from forebay.scenario.quantity import DataSize, Duration, Rate
from forebay.scenario.queue import Queue
from forebay.scenario.source import Standing
from forebay.scenario.streaming import Replay, Video
from forebay.scenario.target import AtLeast, AtMost
from forebay.scenario.tcp import Long, Session, Short, Tcp
from forebay.scenario.traffic import KINDS, OpenLoop, Traffic

__all__ = [
    "BOTTLENECK",
    "COMPLETING_KINDS",
    "CONGESTION_CONTROLS",
    "KINDS",
    "OPEN_LOOP_KINDS",
    "AtLeast",
    "AtMost",
    "BufferSize",
    "ClassGoals",
    "DataSize",
    "Distribution",
    "Duration",
    "FlowCount",
    "FlowLength",
    "Goals",
    "Link",
    "Long",
    "Measure",
    "OnOff",
    "OpenLoop",
    "OtherLink",
    "PacketList",
    "Queue",
    "QueueDelay",
    "Rate",
    "Replay",
    "Scenario",
    "ScenarioError",
    "Session",
    "Short",
    "Standing",
    "Tcp",
    "Traffic",
    "Udp",
    "Video",
    "dumps",
    "load",
    "loads",
]
