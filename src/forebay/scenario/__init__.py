"""What is asked: a scenario, read from TOML, with units, checked once at the door."""

from forebay.scenario.buffer_size import BufferSize
from forebay.scenario.congestion import CONGESTION_CONTROLS
from forebay.scenario.distribution import Distribution
from forebay.scenario.door import dumps, load, loads
from forebay.scenario.errors import ScenarioError
from forebay.scenario.flow_length import FlowLength
from forebay.scenario.model import BOTTLENECK, Goals, Link, Measure, OtherLink, Scenario
from forebay.scenario.open_loop import OnOff, Udp
from forebay.scenario.packet_list import PacketList
from forebay.scenario.quantity import DataSize, Duration, Rate
from forebay.scenario.queue import Queue
from forebay.scenario.source import Standing
from forebay.scenario.streaming import Replay, Video
from forebay.scenario.tcp import Long, Session, Short, Tcp
from forebay.scenario.traffic import KINDS, OpenLoop, Traffic

__all__ = [
    "BOTTLENECK",
    "CONGESTION_CONTROLS",
    "KINDS",
    "BufferSize",
    "DataSize",
    "Distribution",
    "Duration",
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
