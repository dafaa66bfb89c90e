"""Controls from outside, as the core takes them; only `child`'s process may load one."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from forebay import _core, foreign
from forebay.errors import Defect
from forebay.foreign import ControlFailed
from forebay.scenario import Scenario
from forebay.words import Fact

_tell: Callable[[bool], None] | None = None
_loaded: dict[tuple[str, str], _core.ForeignControl] = {}


def allow(tell: Callable[[bool], None]) -> None:
    """Let this process load controls; ``tell`` says when code of theirs may run, and when not."""
    global _tell
    _tell = tell


@contextmanager
def watched() -> Iterator[None]:
    """Say that code of controls from outside runs meanwhile."""
    if _tell is None:
        yield
        return
    _tell(True)
    try:
        yield
    finally:
        _tell(False)


def load(name: str) -> _core.ForeignControl:
    """Return an installed control, loaded."""
    entry = foreign.find(name)
    if entry is None:
        raise ControlFailed((name,), Fact("control-failed.uninstalled"))
    if entry.python is not None:  # a new one each time: it keeps what went wrong
        return _core.ForeignControl.of_class(name, entry.python, entry.paces, entry.controls_cwnd)
    key = (name, entry.sha256)
    if key not in _loaded:
        _loaded[key] = load_library(entry.library, name)
        said = _loaded[key].wants
        for want in ("paces", "controls_cwnd", "ecn", "l4s", "state_bytes"):
            if (found := said[want]) != (stated := getattr(entry, want)):
                did = Fact("control-failed.other-record", want=want, found=found, stated=stated)
                raise ControlFailed((name,), did)
    return _loaded[key]


def load_library(path: Path, name: str) -> _core.ForeignControl:
    """Return the control of a library."""
    if _tell is None:
        raise Defect("a control from outside in the main process")
    with watched():
        try:
            return _core.ForeignControl(path, name)
        except ValueError as error:
            raise ControlFailed((name,), str(error)) from None


_Foreign = _core.ForeignControl | _core.ShadowedControl
_shadowed: dict[str, _core.ShadowedControl] = {}


@contextmanager
def shadowing(name: str, other: _core.ForeignControl) -> Iterator[_core.ShadowedControl]:
    """Let flows with the control ``name`` have ``other`` called beside it; yields the pair."""
    ours = name if name in _core.CONGESTION_CONTROLS else load(name)
    _shadowed[name] = pair = _core.ShadowedControl(ours, other)
    try:
        yield pair
    finally:
        del _shadowed[name]


Numbered = tuple[NDArray[np.int32], list[_Foreign]]


def numbered(names: Sequence[str]) -> Numbered:
    """Return the core's number of each name, and the controls from outside among them."""
    ours = {name: number for number, name in enumerate(_core.CONGESTION_CONTROLS)}
    outside = [name for name in names if name not in ours or name in _shadowed]
    numbers = ours | {name: len(ours) + number for number, name in enumerate(outside)}
    controls = [_shadowed.get(name) or load(name) for name in outside]
    return np.array([numbers[name] for name in names], dtype=np.int32), controls


@contextmanager
def faults_named() -> Iterator[None]:
    """Turn what a control did in a run into ControlFailed, with its name."""
    try:
        yield
    except _core.ControlFault as fault:
        name, wrong = fault.args
        raise ControlFailed((name,), wrong) from None


def isolates(scenario: Scenario) -> tuple[str, ...]:
    """Return the controls for which a run has to go to a process of its own.

    Raises ControlFailed: there are Python classes beside them, which only this process has.
    """
    outside = scenario.foreign_controls
    libraries = tuple(name for name, control in outside.items() if control.python is None)
    if libraries and len(libraries) < len(outside):
        raise ControlFailed(tuple(outside), Fact("control-failed.class-and-library"))
    return libraries
