"""Several independent ways to answer one question, all behind one method."""

from forebay.engines.errors import CannotPlay, EngineUnavailable, NoLaw, UnknownEngine
from forebay.engines.registry import engine_names, get

__all__ = ["CannotPlay", "EngineUnavailable", "NoLaw", "UnknownEngine", "engine_names", "get"]
