"""Engines by name. An engine is imported when it is asked for, and no other with it."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from forebay.engines.errors import EngineUnavailable, UnknownEngine

if TYPE_CHECKING:
    from forebay.engines.protocol import Engine

# name: "module:class", one line an engine.
_ENGINES = {
    "theory": "forebay.engines.theory:TheoryEngine",
    "simulation": "forebay.engines.simulation:SimulationEngine",
    "testbed": "forebay.engines.testbed:TestbedEngine",
    "network": "forebay.engines.network:NetworkEngine",
}
_CORE = "forebay._core"


def names() -> tuple[str, ...]:
    """Names of all engines, in the order in which `compare` lays them side by side."""
    return tuple(_ENGINES)


def get(name: str) -> Engine:
    """Make the engine of that name.

    Raises
    ------
    UnknownEngine
        No engine has that name.
    EngineUnavailable
        It has one, but something that it needs is missing on this machine.
    """
    if name not in _ENGINES:
        raise UnknownEngine(name, names())
    module, attribute = _ENGINES[name].split(":")
    try:
        return cast("Engine", getattr(import_module(module), attribute)())
    except ImportError as error:
        if error.name != _CORE and find_spec(_CORE) is not None:
            raise
        hint = "build it with `make setup` or `pip install .`"
        raise EngineUnavailable(name, f"the compiled {_CORE} cannot be imported", hint) from error
