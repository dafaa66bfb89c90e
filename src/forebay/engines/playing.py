"""Traffic that an engine cannot play is refused before it begins, never left out in silence."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from forebay.engines.errors import CannotPlay

if TYPE_CHECKING:
    from forebay.scenario import Scenario, Traffic


def refuse(engine: str, scenario: Scenario, not_yet: Collection[str]) -> None:
    """Raise CannotPlay for the first class that asks for something in ``not_yet``.

    ``not_yet`` holds names of kinds, and ``"direction"`` and ``"access_sharing"`` for these
    fields where they differ from their defaults.
    """
    for index, group in enumerate(scenario.traffic):
        for field, value in _asked(group):
            if (value if field == "kind" else field) in not_yet:
                raise CannotPlay(
                    engine,
                    f"{value!r}" if field == "kind" else f"{field} = {value!r}",
                    f"traffic.{index}.{field}",
                )


def _asked(group: Traffic) -> Iterator[tuple[str, str | int]]:
    yield "kind", group.kind
    if group.direction != "forward":
        yield "direction", group.direction
    if group.kind != "short" and group.access_sharing > 1:
        yield "access_sharing", group.access_sharing
