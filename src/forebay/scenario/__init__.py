"""The scenario: made in Python or read from TOML, checked when it is made."""

from forebay.catalogue.metrics import BOTTLENECK, REVERSE
from forebay.scenario.base import MAX_FLOWS, MAX_OFFERED, MAX_PACKETS
from forebay.scenario.crossing import CrossingFlows, ack_route, data_route
from forebay.scenario.distribution import Distribution
from forebay.scenario.errors import ScenarioError
from forebay.scenario.flow_length import FlowLength
from forebay.scenario.goals import (
    COMPLETING_KINDS,
    OPEN_LOOP_KINDS,
    AtLeast,
    AtMost,
    ClassGoals,
    Goals,
    QueueDelay,
)
from forebay.scenario.io import dumps, expect_scenario, load, loads, shipped
from forebay.scenario.link import (
    FRAMINGS,
    Framing,
    Jitter,
    Link,
    Loss,
    Measure,
    OtherLink,
    Outages,
    TokenBucket,
)
from forebay.scenario.model import Scenario
from forebay.scenario.quantity import DataSize, Duration, Rate
from forebay.scenario.queue import BufferSize, ClassQueue, Queue, Red
from forebay.scenario.rate_trace import RateTrace
from forebay.scenario.source import FlowCount, Schedule, Standing
from forebay.scenario.tcp import CONGESTION_CONTROLS, Fetching, Long, Requests, Session, Short, Tcp
from forebay.scenario.topology import (
    Demand,
    FatTree,
    Isp,
    LinkClass,
    NetworkFile,
    NetworkLink,
    NetworkNode,
    Topology,
    TwoLevel,
)
from forebay.scenario.traffic import (
    KINDS,
    OnOff,
    OpenLoop,
    PacketList,
    Replay,
    Traffic,
    Udp,
    Video,
)
from forebay.scenario.transfers import Transfer, Transfers

__all__ = [
    "BOTTLENECK", "COMPLETING_KINDS", "CONGESTION_CONTROLS", "FRAMINGS", "KINDS",
    "MAX_FLOWS", "MAX_OFFERED", "MAX_PACKETS", "OPEN_LOOP_KINDS", "REVERSE", "AtLeast",
    "AtMost", "BufferSize", "ClassGoals", "ClassQueue", "CrossingFlows", "DataSize",
    "Demand", "Distribution", "Duration", "FatTree", "Fetching", "FlowCount",
    "FlowLength", "Framing", "Goals", "Isp", "Jitter", "Link", "LinkClass", "Long",
    "Loss", "Measure", "NetworkFile", "NetworkLink", "NetworkNode", "OnOff", "OpenLoop",
    "OtherLink", "Outages", "PacketList", "Queue", "QueueDelay", "Rate", "RateTrace",
    "Red", "Replay", "Requests", "Scenario", "ScenarioError", "Schedule", "Session",
    "Short", "Standing", "Tcp", "TokenBucket", "Topology", "Traffic", "Transfer",
    "Transfers", "TwoLevel", "Udp", "Video", "ack_route", "data_route", "dumps",
    "expect_scenario", "load", "loads", "shipped",
]  # fmt: skip
