"""The network engine: the steady state of a whole network."""

from forebay.engines.network.engine import NetworkEngine

__all__ = ["NetworkEngine"]
