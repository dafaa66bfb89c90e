"""How much a class offers: either a share of the link's rate, or a rate of its own."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel

from forebay.errors import entry
from forebay.scenario.bounds import Between
from forebay.scenario.errors import ScenarioError

LOADS = Between(1e-6, 10.0, "share of link.rate")

_Table = TypeVar("_Table", bound=BaseModel)


def exactly_one(table: _Table, first: str, second: str, example: tuple[str, object]) -> _Table:
    """Return the table if just one of two fields is set. Raises ScenarioError."""
    given = [name for name in (first, second) if getattr(table, name) is not None]
    if len(given) == 1:
        return table
    if given:
        wrong, hint = f"{first} is given too", f"write either {first} or {second}"
        raise ScenarioError("contradiction", wrong, hint, field=second)
    wrong = f"neither {first} nor {second} is given"
    raise ScenarioError("missing", wrong, f"write one of them, such as {entry(*example)}")
