"""The engine that moves packets: `crates/sim` behind the Engine protocol."""

from __future__ import annotations

from forebay.engines.simulation.engine import SimulationEngine

__all__ = ["SimulationEngine"]
