"""Forebay: how large a router's buffer must be, and the evidence.

>>> import forebay
>>> scenario = forebay.load("scenarios/oc3-gsr.toml")
>>> outcome = forebay.run(scenario, engine="simulation", seeds=5)
>>> answer = forebay.size(scenario)

Names are imported when first used, so that ``import forebay`` costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing would take 15 of the first 20 ms
if TYPE_CHECKING:
    from typing import Any

    from forebay import laws
    from forebay.api import compare, run, size, trace
    from forebay.engines import EngineUnavailable
    from forebay.engines import names as engine_names
    from forebay.outcome import Outcome
    from forebay.reproduction import Reproduction, artefacts, reproduce
    from forebay.scenario import Scenario, ScenarioError, load, shipped
    from forebay.sizing import SizeResult

    __version__: str

_ROOMS = {
    "EngineUnavailable": ("forebay.engines", "EngineUnavailable"),
    "Outcome": ("forebay.outcome", "Outcome"),
    "Reproduction": ("forebay.reproduction", "Reproduction"),
    "Scenario": ("forebay.scenario", "Scenario"),
    "ScenarioError": ("forebay.scenario", "ScenarioError"),
    "SizeResult": ("forebay.sizing", "SizeResult"),
    "artefacts": ("forebay.reproduction", "artefacts"),
    "compare": ("forebay.api", "compare"),
    "engine_names": ("forebay.engines", "names"),
    "laws": ("forebay.laws", ""),
    "load": ("forebay.scenario", "load"),
    "measure": ("forebay.measure", ""),
    "reproduce": ("forebay.reproduction", "reproduce"),
    "run": ("forebay.api", "run"),
    "shipped": ("forebay.scenario", "shipped"),
    "size": ("forebay.api", "size"),
    "trace": ("forebay.api", "trace"),
}

__all__ = [  # noqa: RUF022 - in the order of use
    "load",
    "shipped",
    "run",
    "compare",
    "size",
    "trace",
    "reproduce",
    "artefacts",
    "engine_names",
    "laws",
    "Scenario",
    "Outcome",
    "SizeResult",
    "Reproduction",
    "ScenarioError",
    "EngineUnavailable",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _ROOMS[name]
    found = import_module(module)
    value = getattr(found, attribute) if attribute else found
    globals()[name] = value
    return value


def _version() -> str:
    from importlib import metadata

    return metadata.version(__name__)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
