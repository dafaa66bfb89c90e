"""A scenario as a small table, as a notebook shows it."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.scenario.model import Scenario
    from forebay.scenario.traffic import Traffic

_MOST, _FEW = 12, 3


def to_html(scenario: Scenario) -> str:
    """Return the link, queue, classes of traffic, window and goals, with what was written."""
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>"
        for name, value in _rows(scenario)
    )
    return f"<div><b>{escape(scenario.name)}</b><table><tbody>{rows}</tbody></table></div>"


def _rows(scenario: Scenario) -> Iterator[tuple[str, str]]:
    written = scenario.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    if scenario.topology is not None:
        yield "network", _words(written["topology"])
    yield "link", _words(written["link"])
    yield "queue", _words({"size": str(scenario.queue.size)} | written.get("queue", {}))
    named = list(zip(scenario.class_names, scenario.traffic, written["traffic"], strict=True))
    for name, group, table in named[:_MOST]:
        yield name, _class(group, table)
    if len(named) > _MOST:
        yield "", f"and {len(named) - _MOST} more classes"
    measure = scenario.measure
    yield "measured", f"{measure.duration} after {measure.warmup}"
    if written.get("goals"):
        yield "goals", _words(written["goals"])


def _class(group: Traffic, table: dict[str, object]) -> str:
    listed = table.pop("transfers", ())
    known = f"{len(listed)} transfers" if isinstance(listed, list) and listed else ""
    return ", ".join(filter(None, (known, _words({"kind": group.kind} | table))))


def _words(table: dict[str, object]) -> str:
    return ", ".join(f"{name} {_value(value)}" for name, value in table.items())


def _value(value: object) -> str:
    if isinstance(value, dict):
        if list(value) == ["uniform"]:
            return " to ".join(map(str, value["uniform"]))
        return f"({_words(value)})"
    if isinstance(value, list):
        return ", ".join(map(_value, value)) if len(value) <= _FEW else f"{len(value)} values"
    return str(value)
