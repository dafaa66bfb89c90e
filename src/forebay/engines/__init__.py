"""The engines: independent methods with one protocol; `get` makes one by name.

An engine is imported when `get` makes it, and no other engine with it. Another distribution adds
one under the entry point group ``forebay.engines``: a class that needs no arguments, with ``name``
and the method ``run`` of `forebay.engines.base.Engine`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from forebay import plugins
from forebay.engines.errors import (
    EngineUnavailable,
    NoLaw,
    OutsideAtlas,
    UnknownEngine,
    Unsupported,
)
from forebay.words import Fact

if TYPE_CHECKING:
    from forebay.engines.base import Engine

__all__ = [
    "EngineUnavailable", "NoLaw", "OutsideAtlas", "UnknownEngine", "Unsupported", "engine_names",
    "get",
]  # fmt: skip

# name: "module:class", one line for each engine.
_ENGINES = {
    "theory": "forebay.engines.theory:TheoryEngine",
    "simulation": "forebay.engines.simulation:SimulationEngine",
    "testbed": "forebay.engines.testbed:TestbedEngine",
    "network": "forebay.engines.fixed_point:NetworkEngine",
    "atlas": "forebay.engines.atlas:AtlasEngine",
}
_CORE = "forebay._core"
GROUP = "forebay.engines"
"""The entry point group of engines of other distributions. They cannot replace our own."""


def engine_names() -> tuple[str, ...]:
    """Names of all engines: ours, in the order of `compare`, then those of other distributions.

    >>> {"theory", "simulation"} <= set(forebay.engine_names())
    True
    """
    return (*_ENGINES, *sorted(set(plugins.found(GROUP)) - set(_ENGINES)))


def is_of_others(name: str) -> bool:
    """Return whether another distribution adds the engine of that name."""
    return name not in _ENGINES and name in plugins.found(GROUP)


def get(name: str) -> Engine:
    """Make the engine of that name.

    Raises UnknownEngine; EngineUnavailable: something that it needs is missing on this machine;
    BrokenPlugin: that of another distribution cannot be loaded, or lacks the protocol.
    """
    if not isinstance(name, str):
        raise UnknownEngine(name, engine_names())
    if name not in _ENGINES:
        return _of_others(name)
    module, attribute = _ENGINES[name].split(":")
    try:
        return cast("Engine", getattr(import_module(module), attribute)())
    except ImportError as error:
        if error.name != _CORE and find_spec(_CORE) is not None:
            raise
        raise EngineUnavailable("engine-unavailable.no-core", engine=name, core=_CORE) from error


def _of_others(name: str) -> Engine:
    if name not in plugins.found(GROUP):
        raise UnknownEngine(name, engine_names())
    factory = plugins.load(GROUP, name)
    try:
        engine = factory()
    except Exception as error:
        why = Fact("broken-plugin.not-made", what=type(error).__name__, error=str(error))
        raise plugins.refuse(GROUP, name, why) from error
    if not callable(getattr(engine, "run", None)) or getattr(engine, "name", None) != name:
        raise plugins.refuse(GROUP, name, Fact("broken-plugin.no-engine", name=name))
    from forebay.engines.base import OtherEngine

    return OtherEngine(name, engine)
