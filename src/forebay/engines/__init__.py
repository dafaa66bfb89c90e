"""Several independent ways to answer one question, all behind one method."""

from forebay.engines.errors import CannotPlay, EngineUnavailable, UnknownEngine
from forebay.engines.registry import get, names

__all__ = ["CannotPlay", "EngineUnavailable", "UnknownEngine", "get", "names"]
