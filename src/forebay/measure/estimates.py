"""Estimates, collected from one source after another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from forebay.measure.estimate import Refused


@dataclass
class Estimates:
    """The results so far; see `Measured` for the fields."""

    estimates: dict[str, Any] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    curves: dict[str, Any] = field(default_factory=dict)

    def refuse(self, name: str, why: str) -> None:
        """Record that the records do not allow an estimate."""
        self.refused.append(Refused(name, why))
