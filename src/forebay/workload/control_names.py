"""The congestion controls of a workload, by which flows number theirs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from forebay.catalogue import is_ours
from forebay.scenario import CONGESTION_CONTROLS, Tcp, Traffic
from forebay.workload.model import Part


def control_names(groups: Sequence[Traffic] | Sequence[Tcp]) -> tuple[str, ...]:
    """Return the simulator's congestion controls, and those from outside that the groups have."""
    named = [group.control_names for group in groups if isinstance(group, Tcp)]
    outside = {name for names in named for name in names if not is_ours(name)}
    return (*CONGESTION_CONTROLS, *sorted(outside))


def numbered_together(groups: Sequence[Traffic], parts: Sequence[Part]) -> NDArray[np.int32]:
    """Return the control of each flow; a class numbers those from outside that it has itself."""
    place = {name: number for number, name in enumerate(control_names(groups))}
    drawn = []
    for group, part in zip(groups, parts, strict=True):
        own = np.array([place[name] for name in control_names([group])], dtype=np.int32)
        drawn.append(own[part.congestion_control])
    return np.concatenate(drawn)
