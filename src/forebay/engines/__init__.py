"""Several independent ways to answer one question, all behind one method."""

from forebay.engines.errors import EngineUnavailable, UnknownEngine
from forebay.engines.registry import get, names

__all__ = ["EngineUnavailable", "UnknownEngine", "get", "names"]
