"""The document and the hash of a scenario that many replications have, made once."""

from __future__ import annotations

import json
from typing import Any

from forebay.scenario.model import Scenario

_last: tuple[Scenario, str, str] | None = None


def document_and_hash(scenario: Scenario) -> tuple[dict[str, Any], str]:
    """Return `Scenario.to_dict` and `Scenario.sha256`; those of the last scenario are kept.

    Each call returns a dict of its own. A scenario that reads files is not kept, because their
    paths depend on the current folder.
    """
    global _last
    if scenario.files:
        return scenario.to_dict(), scenario.sha256()
    known = _last
    if known is None or known[0] is not scenario:
        known = _last = (scenario, json.dumps(scenario.to_dict()), scenario.sha256())
    document: dict[str, Any] = json.loads(known[1])
    return document, known[2]
