"""Congestion controls from outside: built, listed, checked, and compared with the simulator's own.

docs/how-to/bring-a-congestion-control.md is the guide.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from forebay.catalogue import is_ours
from forebay.engines.simulation.isolated import Isolated
from forebay.foreign import ControlError, ControlFailed, Installed, Provided, find, names
from forebay.foreign.build import EXAMPLES, INCLUDE, compile_control
from forebay.foreign.installed import check_name, install

__all__ = [
    "EXAMPLES",
    "INCLUDE",
    "ControlError",
    "ControlFailed",
    "Installed",
    "Provided",
    "build",
    "listed",
]


def build(
    source: str | PathLike[str],
    *more: str | PathLike[str],
    name: str | None = None,
    linux: str | None = None,
    hz: int | None = None,
) -> Installed:
    """Compile a congestion control, and keep it under a name that scenarios use.

    Parameters
    ----------
    source, more : path
        The source in C, C++, Rust or Zig, by its ending, or a .so; of C, further files that it needs.
    name : str, optional
        Its name in scenarios; that which it gives itself if not set, for modules of the kernel with
        ``"@"`` and the version.
    linux : str, optional
        The version of Linux of which the source is a module of net/ipv4, such as ``"6.12"``.
    hz : int, optional
        Ticks of that kernel's clock in a second; 1000 if not set.

    Returns
    -------
    Installed
        It, its library and how it was made.

    Raises
    ------
    ControlError
        The source does not compile, or the name is that of a control of the simulator.
    ControlFailed
        The library cannot be used.
    """
    if name is not None:
        _refuse_ours(check_name(name))
    files = [Path(each) for each in (source, *more)]
    with tempfile.TemporaryDirectory(prefix="forebay-") as folder:
        built = compile_control(files, Path(folder), linux=linux, hz=hz)
        process = Isolated()
        try:
            said = process.call((files[0].name,), "probe", built.library, progress=None)
        finally:
            process.close()
        own = said["own_name"] or files[0].stem
        chosen = check_name(name or (own if linux is None else f"{own}@{linux}"))
        _refuse_ours(chosen)
        facts = {"source_sha256": built.source_sha256, "compiler": built.compiler}
        if linux is not None:
            facts |= {"linux": linux, "hz": built.hz}
        wants = {want: said[want] for want in ("paces", "controls_cwnd", "ecn", "l4s")}
        return install(
            built.library, {"name": chosen, "source": built.source, "built": facts, **wants}
        )


def _refuse_ours(name: str) -> None:
    if is_ours(name):
        wrong = f"{name!r} is a control of the simulator's own"
        raise ControlError("--name", wrong, f"write another, such as {f'my-{name}'!r}")


def listed() -> Sequence[Installed]:
    """Return all controls from outside that this machine has, by name."""
    found = [find(name) for name in names()]
    return [each for each in found if each is not None]
