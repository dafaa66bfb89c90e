"""Congestion controls from outside: building them, and which this machine has.

``include/forebay_cc.h`` is their C interface, ``linux`` lets modules of the Linux kernel use it,
and ``examples`` has controls to start from. Nothing here loads a library: only a process of
`forebay.engines.simulation.isolated` does.
"""

from forebay.foreign.installed import ControlError, ControlFailed, Installed, Provided, find, names

__all__ = ["ControlError", "ControlFailed", "Installed", "Provided", "find", "names"]
