"""The testbed engine: the TCP of this machine's kernel, in namespaces, through our router."""

from __future__ import annotations

from forebay.engines.testbed.engine import TestbedEngine

__all__ = ["TestbedEngine"]
