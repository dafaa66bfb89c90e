"""What a network can be refused for once its file has been read."""

from __future__ import annotations

from forebay.scenario import ScenarioError

FIELD = "topology"


def refuse(wrong: str, hint: str, field: str = "") -> ScenarioError:
    """Return the complaint about a network; ``field`` lies under topology."""
    return ScenarioError("topology", wrong, hint, field=".".join(filter(None, (FIELD, field))))
