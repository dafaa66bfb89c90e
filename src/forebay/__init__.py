"""Forebay: how large a router's buffer must be, and the evidence.

>>> import forebay
>>> scenario = forebay.load("scenarios/oc3-gsr.toml")
>>> outcome = forebay.run(scenario, engine="simulation", seeds=5)
>>> answer = forebay.size(scenario)

docs/tutorial/in-python.md is an introduction; docs/reference/python.md lists every name. Names are
imported when they are first used, so that ``import forebay`` is fast.
"""

from __future__ import annotations

import sys as _sys
from importlib import import_module as _module

TYPE_CHECKING = False  # importing typing would take 15 of the first 20 ms
if TYPE_CHECKING:
    from typing import Any

    from forebay import laws as laws
    from forebay.api.ports import link_scenario as link_scenario
    from forebay.api.run import compare as compare, run as run, trace as trace
    from forebay.api.sensitivity import sensitivity as sensitivity, size_uncertain as size_uncertain
    from forebay.api.size import again as again, size as size, with_cheaper as with_cheaper
    from forebay.api.sweep import sweep as sweep
    from forebay.engines import (
        EngineUnavailable as EngineUnavailable, NoLaw as NoLaw, OutsideAtlas as OutsideAtlas,
        UnknownEngine as UnknownEngine, Unsupported as Unsupported, engine_names as engine_names,
    )  # fmt: skip
    from forebay.engines.footprint import TooMuchMemory as TooMuchMemory
    from forebay.errors import Defect as Defect, ForebayError as ForebayError
    from forebay.outcome import (
        DocumentError as DocumentError, Outcome as Outcome, SizeResult as SizeResult,
    )  # fmt: skip
    from forebay.outcome.trace import Trace as Trace
    from forebay.outcome.uncertain import Sensitivity as Sensitivity, UncertainSize as UncertainSize
    from forebay.plugins import BrokenPlugin as BrokenPlugin
    from forebay.reproduction import (
        ArtefactUnavailable as ArtefactUnavailable, Reproduction as Reproduction,
        UnknownArtefact as UnknownArtefact, artefacts as artefacts, reproduce as reproduce,
    )  # fmt: skip
    from forebay.scenario import (
        ClassGoals as ClassGoals, ClassQueue as ClassQueue, DataSize as DataSize,
        Duration as Duration, Goals as Goals, Jitter as Jitter, Link as Link, Long as Long,
        Loss as Loss, Measure as Measure, OnOff as OnOff, OtherLink as OtherLink,
        Outages as Outages, Queue as Queue, QueueDelay as QueueDelay, Rate as Rate,
        RateTrace as RateTrace, Red as Red, Replay as Replay, Requests as Requests,
        Scenario as Scenario, ScenarioError as ScenarioError, Schedule as Schedule,
        Session as Session, Short as Short, TokenBucket as TokenBucket, Topology as Topology,
        Transfer as Transfer, Transfers as Transfers, Udp as Udp, Video as Video, load as load,
        shipped as shipped,
    )  # fmt: skip
    from forebay.search.cost import TooLittleTime as TooLittleTime
    from forebay.search.goals import SizingError as SizingError
    from forebay.store import Store as Store, StoreError as StoreError
    from forebay.studies.errors import StudyError as StudyError
    from forebay.studies.sweep import Sweep as Sweep
    from forebay.web.notebook import workbench as workbench

    __version__: str

# Modules and their public names, in the order of docs/reference/python.md.
_GROUPS = (
    ("forebay.scenario", "load shipped"),
    ("forebay.api.ports", "link_scenario"),
    ("forebay.api.run", "run compare"),
    ("forebay.api.size", "size"),
    ("forebay.api.sweep", "sweep"),
    ("forebay.api.sensitivity", "sensitivity size_uncertain"),
    ("forebay.api.size", "with_cheaper again"),
    ("forebay.api.run", "trace"),
    ("forebay.web.notebook", "workbench"),
    ("forebay.reproduction", "reproduce artefacts"),
    ("forebay.engines", "engine_names"),
    ("forebay.scenario",
     "Scenario Link OtherLink Queue ClassQueue Red TokenBucket Loss RateTrace Outages Jitter "
     "Schedule Measure Goals ClassGoals QueueDelay Topology Long Short Session Requests Transfers "
     "Transfer Udp OnOff Video Replay Rate Duration DataSize"),
    ("forebay.outcome", "Outcome SizeResult"),
    ("forebay.outcome.trace", "Trace"),
    ("forebay.studies.sweep", "Sweep"),
    ("forebay.outcome.uncertain", "Sensitivity UncertainSize"),
    ("forebay.reproduction", "Reproduction"),
    ("forebay.store", "Store"),
    ("forebay.errors", "ForebayError Defect"),
    ("forebay.scenario", "ScenarioError"),
    ("forebay.search.goals", "SizingError"),
    ("forebay.store", "StoreError"),
    ("forebay.studies.errors", "StudyError"),
    ("forebay.engines", "UnknownEngine EngineUnavailable Unsupported NoLaw OutsideAtlas"),
    ("forebay.engines.footprint", "TooMuchMemory"),
    ("forebay.search.cost", "TooLittleTime"),
    ("forebay.outcome", "DocumentError"),
    ("forebay.reproduction", "UnknownArtefact ArtefactUnavailable"),
    ("forebay.plugins", "BrokenPlugin"),
)  # fmt: skip
_HOLDERS = {name: module for module, names in _GROUPS for name in names.split()}
_OLDER = {"CannotPlay": "Unsupported"}
"""Public names that have changed: programs that use the older one still run."""
_MODULES = {"laws": "forebay.laws", "measure": "forebay.measure"}
_MODULES |= {name: f"forebay.api.{name}" for name in ("controls", "networks", "ports", "testbed")}

__all__ = [*_HOLDERS, "laws"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _module("forebay.packages").installed_version()
    name = _OLDER.get(name, name)
    if name not in _HOLDERS and name not in _MODULES:
        # With name and obj, Python suggests the most similar name.
        wrong = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(wrong, name=name, obj=_sys.modules[__name__])
    if name in _MODULES:
        return _module(_MODULES[name])
    value = getattr(_module(_HOLDERS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_HOLDERS, *_MODULES, "__version__"])
