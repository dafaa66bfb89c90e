"""The engine that asks the machine's own kernel: real TCP through our router, in namespaces."""

from __future__ import annotations

from forebay.engines.testbed.engine import TestbedEngine

__all__ = ["TestbedEngine"]
