"""Checks of tables of transfers: their starts, and what belongs to a network or to none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import Duration
from forebay.scenario.transfers import Transfers

if TYPE_CHECKING:
    from forebay.scenario.model import Scenario


def check_tables(scenario: Scenario) -> None:
    """Raise ScenarioError for a column of another kind of scenario, or a table of late starts."""
    end = Duration(scenario.measure.warmup + scenario.measure.duration)
    for index, group in enumerate(scenario.traffic):
        table = group.table if isinstance(group, Transfers) else None
        if table is None:
            continue
        places = [name for name in ("source", "target", "route") if any(table.texts.get(name, ()))]
        if places and scenario.topology is None:
            wrong, hint = f"{places[0]} of a transfer without a network", "write a topology too"
            raise ScenarioError("contradiction", wrong, hint, field=f"traffic.{index}")
        if int(table.start_ps.min()) >= round(end * 1e12):
            wrong = f"no transfer starts before the run ends at {end}"
            hint = "write earlier starts, or a longer measure.duration"
            field = f"traffic.{index}.{'file' if table.path else 'transfers'}"
            raise ScenarioError("contradiction", wrong, hint, field=field)
        if table.rtt_ps is not None and scenario.topology is not None:
            wrong, hint = "an rtt of a transfer", "leave it out: the topology gives it"
            raise ScenarioError("contradiction", wrong, hint, field=f"traffic.{index}")
