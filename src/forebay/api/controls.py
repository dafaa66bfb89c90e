"""Congestion controls from outside: built, listed, checked, and compared with the simulator's own.

docs/how-to/bring-a-congestion-control.md is the guide.
"""

import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from forebay.catalogue import is_ours
from forebay.engines.simulation.isolated import Isolated
from forebay.foreign import ControlError, ControlFailed, Installed, Provided, find, names
from forebay.foreign.build import EXAMPLES, INCLUDE, compile_control
from forebay.foreign.installed import check_name, install, use_class
from forebay.progress import Progress
from forebay.scenario import Scenario, ScenarioError, Tcp, expect_scenario, load
from forebay.words import Fact, argument

__all__ = [
    "EXAMPLES", "INCLUDE", "Check", "ControlError", "ControlFailed", "Installed", "Provided",
    "Shadow", "build", "check", "compare", "listed", "use",
]  # fmt: skip


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
    source, more : the source in C, C++, Rust or Zig, by its ending, or a .so; of C, further files
        that it needs.
    name : its name in scenarios; that which it gives itself if not set, for modules of the kernel
        with ``"@"`` and the version.
    linux : the version of Linux of which the source is a module of net/ipv4, such as ``"6.12"``.
    hz : ticks of that kernel's clock in a second; 1000 if not set.

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
    files = [Path(path) for path in (source, *more)]
    first = files[0].name
    with tempfile.TemporaryDirectory(prefix="forebay-") as folder:
        built = compile_control(files, Path(folder), linux=linux, hz=hz)
        with closing(Isolated()) as process:
            said = process.call((first,), "probe", built.library, first, progress=None)
        own = said["own_name"] or files[0].stem
        chosen = check_name(name or (own if linux is None else f"{own}@{linux}"))
        _refuse_ours(chosen)
        facts: dict[str, Any] = {"source_sha256": built.source_sha256, "compiler": built.compiler}
        if linux is not None:
            facts |= {"linux": linux, "hz": built.hz}
        kept = ("paces", "controls_cwnd", "ecn", "l4s", "state_bytes")
        wants = {want: said[want] for want in kept}
        record = {"name": chosen, "source": built.source, "built": facts, **wants}
        return install(built.library, record)


def use(python: type, name: str | None = None) -> Installed:
    """Let scenarios of this process name a Python class, called once a round trip of a flow.

    An object is made for each connection. Its ``on_round(window, round)`` may set ``window.cwnd``,
    ``ssthresh`` (segments) and ``pacing_rate`` (segments a second, or None); ``round`` has
    ``now_s``, ``acked``, ``lost``, ``marked``, ``rtt_s``, ``srtt_s``, ``min_rtt_s``, ``in_flight``,
    ``delivery_rate`` and ``cwnd_limited``. If it has ``ssthresh(window, event)``, that returns the
    threshold after a ``"loss"``, ``"mark"`` or ``"timeout"``; else the window is halved. The class
    says ``paces = True`` if it sets the rate, and ``controls_cwnd = True`` if it sets cwnd in
    recovery, too.

    It runs in this process, and only here: a sweep on processes or a cluster does not know it. For
    its price see docs/how-to/bring-a-congestion-control.md.

    Parameters
    ----------
    python : the class, without arguments.
    name : its name in scenarios; that of the class in lower case if not set.

    Raises
    ------
    ControlError
        It is no class, has no ``on_round``, or the name is that of a control of the simulator.
    """
    if not isinstance(python, type):
        raise ControlError("control.no-class", field=argument("python"), value=python)
    chosen = python.__name__.lower() if name is None else name
    _refuse_ours(check_name(chosen))
    if not callable(getattr(python, "on_round", None)):
        raise ControlError("control.no-method", field=chosen)
    return use_class(python, chosen)


def _refuse_ours(name: str) -> None:
    if is_ours(name):
        raise ControlError("control.ours", field=argument("name"), value=name)


def listed() -> Sequence[Installed]:
    """Return all controls from outside that this machine has, by name."""
    return [control for name in names() if (control := find(name)) is not None]


@dataclass(frozen=True, slots=True)
class Check:
    """What `check` found.

    Attributes
    ----------
    properties : each of the conformance suite, with what was seen instead, or None.
    repeats : whether the same runs gave the same readings, bit for bit.
    repeats_in_threads : the same of two runs at a time, in two threads.
    never_called : hooks that it has and no run called.
    """

    properties: dict[str, str | None]
    repeats: bool
    repeats_in_threads: bool
    never_called: tuple[str, ...]

    @property
    def passes(self) -> bool:
        """Whether it has every property and repeats."""
        conforms = all(seen is None for seen in self.properties.values())
        return conforms and self.repeats and self.repeats_in_threads


def check(name: str, *, progress: Progress | None = None) -> Check:
    """Run the conformance suite on a control, and short simulations twice and in two threads.

    The simulations have losses of a small queue and of a link, a link that reorders, marks, and
    transfers that end.

    Raises
    ------
    ControlError
        There is no such control, or it is a Python class.
    ControlFailed
        It crashed, did not return, or set what no window can be.
    """
    _expect(name)
    with closing(Isolated()) as process:
        said = process.call((name,), "check", name, _trials(name), progress=progress)
    never = [hook for hook, calls in said["calls"].items() if calls == 0]
    return Check(dict(said["properties"]), said["twice"], said["two threads"], tuple(never))


def _trials(name: str) -> list[Scenario]:
    long = {"kind": "long", "flows": 8, "congestion_control": name, "sender": "linux"}
    long |= {"rtt": {"uniform": ["20 ms", "60 ms"]}, "start": {"uniform": ["0 s", "1 s"]}}
    short = {"kind": "short", "load": 0.3, "congestion_control": name, "sender": "linux"}
    short |= {"length": {"pareto": {"mean": "50 packets", "shape": 1.2}}, "rtt": "30 ms"}
    link, queue = {"rate": "10 Mbit/s"}, {"size": "20 packets"}
    trials: tuple[tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]], ...] = (
        (link, queue, [long]),
        (link, {"size": "3 packets"}, [long]),
        (link | {"loss": 0.02}, queue, [long, short]),
        (link | {"jitter": {"most": "8 ms", "reorder": True}}, queue, [long]),
        (link, {"size": "40 packets", "discipline": "fq_codel"}, [long | {"ecn": True}]),
    )
    of_all = {"name": "check", "measure": {"warmup": "1 s", "duration": "9 s"}}
    return [
        Scenario.from_dict({**of_all, "link": link, "queue": queue, "traffic": traffic})
        for link, queue, traffic in trials
    ]


@dataclass(frozen=True, slots=True)
class Shadow:
    """What `compare` found.

    Attributes
    ----------
    ours, other : the control that steers, and the one that is called beside it.
    calls, differing : of each hook, its calls, and those with which the two differed.
    first : the earliest of these of each hook that has one, with its inputs, by time. Of a window
        it has cwnd and ssthresh (None before the first loss), segments, and the rate, segments/s.
    """

    ours: str
    other: str
    calls: dict[str, int]
    differing: dict[str, int]
    first: tuple[dict[str, Any], ...]

    @property
    def share(self) -> float:
        """Share of all calls with which the two differed."""
        return sum(self.differing.values()) / max(sum(self.calls.values()), 1)


def compare(
    ours: str,
    other: str | PathLike[str],
    scenario: Scenario | None = None,
    *,
    seeds: int = 1,
    seed: int = 1,
    progress: Progress | None = None,
) -> Shadow:
    """Let one control steer, show another the same ACKs, and count what it would do otherwise.

    With each call the other begins from the window that ours has. Windows and thresholds are
    compared as whole segments, pacing rates within a thousandth.

    Parameters
    ----------
    ours : a control of the simulator, or one from outside.
    other : one from outside: its name, or the path of a .so.
    scenario : whose TCP flows all have ``ours``; if not set, 10 s of the shipped ``oc3-gsr`` with
        senders of Linux.
    seeds, seed : number of replications, and the first seed.

    Raises
    ------
    ControlError, ControlFailed
        See `check`.
    ScenarioError
        The scenario has no TCP.
    """
    path = Path(other) if str(other).endswith(".so") else None
    if path is None:
        _expect(str(other))
    elif not path.is_file():
        raise ControlError("control.no-library", field=str(path))
    if not is_ours(ours):
        _expect(ours)
    chosen = _with(ours, scenario)
    beside = str(other) if path is None else path.resolve()
    counted = list(range(seed, seed + seeds))
    with closing(Isolated()) as process:
        said = process.call(
            (str(other),), "compare", ours, beside, chosen, counted, progress=progress
        )
    return Shadow(
        ours=ours,
        other=str(other),
        calls={hook: calls for hook, (calls, _) in said["calls"].items()},
        differing={hook: differing for hook, (_, differing) in said["calls"].items()},
        first=tuple(sorted(said["first"], key=lambda call: float(call["at_s"]))),
    )


def _with(control: str, scenario: Scenario | None) -> Scenario:
    """Return a scenario whose TCP flows all have that control."""
    if scenario is None:
        linux = {"traffic.0.sender": "linux", "measure.warmup": "2 s", "measure.duration": "8 s"}
        scenario = load("oc3-gsr").replace(linux)
    expect_scenario(scenario)
    tcp = [index for index, group in enumerate(scenario.traffic) if isinstance(group, Tcp)]
    if not tcp:
        raise ScenarioError("contradiction.no-tcp", field="traffic")
    return scenario.replace({f"traffic.{index}.congestion_control": control for index in tcp})


def _expect(name: str) -> None:
    """Refuse what another process does not find: no control, or a class of this one."""
    found = find(name)
    if found is None:
        known = ", ".join(names()) or Fact("control.none-built")
        raise ControlError("control.unknown", field="controls", value=name, known=known)
    if found.python is not None:
        raise ControlError("control.of-class", field="controls", value=name)
