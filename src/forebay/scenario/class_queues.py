"""Checks of class queues before one wire: with each other, their link and its traffic.

This module is imported only for scenarios that have some.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.errors import entry
from forebay.scenario.errors import ScenarioError, did_you_mean, one_of, show
from forebay.scenario.quantity import Rate

if TYPE_CHECKING:
    from forebay.scenario.queue import ClassQueue

MAX_CLASSES = 64
"""Maximum number of class queues before one wire; router ports have 4 to 16."""


def check_alone(queues: Sequence[ClassQueue]) -> None:
    """Refuse class queues that contradict each other. Raises ScenarioError."""
    if len(queues) > MAX_CLASSES:
        wrong, hint = f"{len(queues)} class queues", f"write {MAX_CLASSES} at most"
        raise ScenarioError("out-of-range", wrong, hint, field="classes")
    names: set[str] = set()
    holders: dict[str, str] = {}
    for index, queue in enumerate(queues):
        if queue.name in names:
            wrong, hint = "another class queue has this name", "write a name of its own"
            field = f"classes.{index}.name"
            raise ScenarioError("contradiction", wrong, hint, field=field, value=queue.name)
        names.add(queue.name)
        for traffic in queue.traffic:
            if traffic in holders:
                wrong = f"{show(traffic)} is named here and in class queue {show(holders[traffic])}"
                hint, field = "name it once", f"classes.{index}.traffic"
                raise ScenarioError("contradiction", wrong, hint, field=field, value=traffic)
            holders[traffic] = queue.name
    defaults = [index for index, queue in enumerate(queues) if queue.default]
    if len(defaults) > 1:
        first = queues[defaults[0]].name
        wrong, hint = f"class queue {show(first)} is the default too", "write it in one of them"
        field = f"classes.{defaults[1]}.default"
        raise ScenarioError("contradiction", wrong, hint, field=field)


def queue_of_traffic(queues: Sequence[ClassQueue], traffic: Sequence[str]) -> list[int | None]:
    """Return the index of the class queue of each traffic class, None without one."""
    default = next((index for index, queue in enumerate(queues) if queue.default), None)
    named = {name: index for index, queue in enumerate(queues) for name in queue.traffic}
    return [named.get(name, default) for name in traffic]


def check_rates(field: str, queues: Sequence[ClassQueue], capacity: float) -> None:
    """Refuse rates of class queues that exceed their link's capacity in bit/s."""
    for index, queue in enumerate(queues):
        for name in ("min_rate", "max_rate"):
            rate = getattr(queue, name)
            if rate is not None and rate > capacity:
                wrong = f"{rate} is above the rate of the link, {Rate(capacity)}"
                hint = f"write {Rate(capacity)!s} or less here, or leave it out"
                place = f"{field}.{index}.{name}"
                raise ScenarioError("contradiction", wrong, hint, field=place, value=rate)
    promised = sum(float(queue.min_rate or 0) for queue in queues)
    if promised > capacity * (1 + 1e-12):
        wrong = f"the min_rates, {Rate(promised)} in all, are more than the link's {Rate(capacity)}"
        hint = "write smaller ones"
        raise ScenarioError("contradiction", wrong, hint, field=field)


def check_traffic(
    field: str, queues: Sequence[ClassQueue], traffic: Sequence[str], crossing: Sequence[str]
) -> None:
    """Refuse unknown names of traffic, and traffic of the link without a class queue."""
    for index, queue in enumerate(queues):
        for name in queue.traffic:
            if name not in traffic:
                wrong = f"there is no traffic {show(name)}{did_you_mean(name, traffic)}"
                hint = f"write {one_of(list(traffic)[:8])}"
                place = f"{field}.{index}.traffic"
                raise ScenarioError("unknown-name", wrong, hint, field=place, value=name)
    placed = dict(zip(traffic, queue_of_traffic(queues, traffic), strict=True))
    for name in crossing:
        if placed[name] is None:
            wrong = f"no class queue has traffic {show(name)}"
            hint = f"name it in the traffic of one, or write {entry('default', True)} in one"
            raise ScenarioError("contradiction", wrong, hint, field=field, value=name)
