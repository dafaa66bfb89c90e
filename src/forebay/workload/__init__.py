"""The draw: (Scenario, seed) to explicit flows, from named random streams."""

from forebay.workload.drawing import draw
from forebay.workload.model import Packets, Sessions, Workload

__all__ = ["Packets", "Sessions", "Workload", "draw"]
