"""The draw: (Scenario, seed) to explicit flows, from named random streams."""

from typing import TYPE_CHECKING

from forebay.packages import attributes

if TYPE_CHECKING:
    from forebay.workload.drawing import draw
    from forebay.workload.model import Packets, Sessions, Workload

__all__ = ["Packets", "Sessions", "Workload", "draw"]

# Laws import only `workload.spread`; the draw is imported when it is used.
_HOLDERS = {"Packets": "model", "Sessions": "model", "Workload": "model", "draw": "drawing"}
__getattr__ = attributes(__name__, _HOLDERS)
