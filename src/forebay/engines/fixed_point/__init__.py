"""The network engine: the steady state of a whole network."""

from forebay.engines.fixed_point.engine import NetworkEngine

__all__ = ["NetworkEngine"]
