"""Forebay: how large a router's buffer must be, and the evidence.

>>> import forebay
>>> scenario = forebay.load("scenarios/oc3-gsr.toml")
>>> outcome = forebay.run(scenario, engine="simulation", seeds=5)
>>> answer = forebay.size(scenario)

docs/tutorial/in-python.md is a first hour with it, docs/reference/python.md lists every name.
Names are imported when first used, so that ``import forebay`` costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing would take 15 of the first 20 ms
if TYPE_CHECKING:
    from typing import Any

    from forebay import laws
    from forebay.api import compare, run, size, trace
    from forebay.budget import TooLittleTime
    from forebay.engines import CannotPlay, EngineUnavailable, NoLaw, UnknownEngine
    from forebay.engines import names as engine_names
    from forebay.errors import ForebayError
    from forebay.footprint import TooMuchMemory
    from forebay.outcome import DocumentError, Outcome
    from forebay.outcome.trace import Trace
    from forebay.plugins import BrokenPlugin
    from forebay.reproduction import (
        ArtefactUnavailable,
        Reproduction,
        UnknownArtefact,
        artefacts,
        reproduce,
    )
    from forebay.scenario import (
        ClassGoals,
        DataSize,
        Duration,
        Goals,
        Link,
        Long,
        Measure,
        OnOff,
        OtherLink,
        Queue,
        QueueDelay,
        Rate,
        Replay,
        Scenario,
        ScenarioError,
        Session,
        Short,
        TokenBucket,
        Topology,
        Udp,
        Video,
        load,
        shipped,
    )
    from forebay.sizing import SizeResult, SizingError

    __version__: str

# Where each public name lies: a module, and the name in it where that is another; docs/reference
# has them in the same groups.
_VERBS = {
    "load": "forebay.scenario",
    "shipped": "forebay.scenario",
    "run": "forebay.api",
    "compare": "forebay.api",
    "size": "forebay.api",
    "trace": "forebay.api",
    "reproduce": "forebay.reproduction",
    "artefacts": "forebay.reproduction",
    "engine_names": "forebay.engines:names",
}
_SCENARIO = dict.fromkeys(
    (
        "Scenario",
        "Link",
        "OtherLink",
        "Queue",
        "TokenBucket",
        "Measure",
        "Goals",
        "ClassGoals",
        "QueueDelay",
        "Topology",
        "Long",
        "Short",
        "Session",
        "Udp",
        "OnOff",
        "Video",
        "Replay",
        "Rate",
        "Duration",
        "DataSize",
    ),
    "forebay.scenario",
)
_ANSWERS = {
    "Outcome": "forebay.outcome",
    "SizeResult": "forebay.sizing",
    "Trace": "forebay.outcome.trace",
    "Reproduction": "forebay.reproduction",
}
_ERRORS = {
    "ForebayError": "forebay.errors",
    "ScenarioError": "forebay.scenario",
    "SizingError": "forebay.sizing",
    "UnknownEngine": "forebay.engines",
    "EngineUnavailable": "forebay.engines",
    "CannotPlay": "forebay.engines",
    "NoLaw": "forebay.engines",
    "TooMuchMemory": "forebay.footprint",
    "TooLittleTime": "forebay.budget",
    "DocumentError": "forebay.outcome",
    "UnknownArtefact": "forebay.reproduction",
    "ArtefactUnavailable": "forebay.reproduction",
    "BrokenPlugin": "forebay.plugins",
}
_MODULES = {"laws": "forebay", "measure": "forebay", "networks": "forebay", "testbed": "forebay"}
_PUBLIC = _VERBS | _SCENARIO | _ANSWERS | _ERRORS | _MODULES

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
    "Scenario",
    "Link",
    "OtherLink",
    "Queue",
    "TokenBucket",
    "Measure",
    "Goals",
    "ClassGoals",
    "QueueDelay",
    "Topology",
    "Long",
    "Short",
    "Session",
    "Udp",
    "OnOff",
    "Video",
    "Replay",
    "Rate",
    "Duration",
    "DataSize",
    "Outcome",
    "SizeResult",
    "Trace",
    "Reproduction",
    "ForebayError",
    "ScenarioError",
    "SizingError",
    "UnknownEngine",
    "EngineUnavailable",
    "CannotPlay",
    "NoLaw",
    "TooMuchMemory",
    "TooLittleTime",
    "DocumentError",
    "UnknownArtefact",
    "ArtefactUnavailable",
    "BrokenPlugin",
    "laws",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, _, attribute = _PUBLIC[name].partition(":")
    if name in _MODULES:
        return import_module(f"{module}.{name}")
    value = getattr(import_module(module), attribute or name)
    globals()[name] = value
    return value


def _version() -> str:
    from importlib import metadata

    return metadata.version(__name__)


def __dir__() -> list[str]:
    return sorted([*_PUBLIC, "__version__"])
