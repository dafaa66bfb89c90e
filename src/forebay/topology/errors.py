"""Errors of a network that is built from a valid file."""

from __future__ import annotations

from forebay.scenario import ScenarioError

FIELD = "topology"


def refuse(wrong: str, hint: str, field: str = "") -> ScenarioError:
    """Return the error for a network; ``field`` is below topology."""
    return ScenarioError("topology", wrong, hint, field=".".join(filter(None, (FIELD, field))))
