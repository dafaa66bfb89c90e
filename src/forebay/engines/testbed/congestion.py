"""Congestion controls of the machine's kernel: its own, and ours that it takes as BPF programs."""

from __future__ import annotations

import errno
import json
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from forebay.engines.errors import EngineUnavailable
from forebay.engines.testbed import bpf

KERNEL_NAMES = {
    "reno": "reno",
    "scalable": "fb_scalable",
    "bic": "fb_bic",
    "cubic": "cubic",
    "cubic-beta-0.8": "fb_cubic08",
    "cubic-beta-0.7": "fb_cubic07",
    "compound": "fb_compound",
    "dctcp": "dctcp",
    "bbr": "bbr",
    "westwood": "westwood",
}
"""What the kernel calls those of a scenario that it can run; no released kernel has
`bbr3` or `prague`.

It may have a `bic` or a `scalable` of its own, so ours are called otherwise, in at most 15
characters."""

_OBJECTS = {
    "fb_scalable": "scalable",
    "fb_bic": "bic",
    "fb_cubic08": "cubic_beta_08",
    "fb_cubic07": "cubic_beta_07",
    "fb_compound": "compound",
}
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_GONE_WITHIN_S = 5.0


@contextmanager
def ensure(names: Iterable[str]) -> Iterator[None]:
    """Have the kernel know these congestion controls, by their names in a scenario, meanwhile.

    Ours are registered for the whole machine, for root only, and are off its list afterwards, also
    if this process is killed. One run at a time can have them.

    Raises
    ------
    EngineUnavailable
        This machine cannot have one of them; others may still run.
    """
    wanted = sorted({_kernel_name(name) for name in names})
    ours = [name for name in wanted if name in _OBJECTS]
    for name in wanted:
        if name not in _OBJECTS:
            _require(name)
    if not ours:
        yield
        return
    with _registered(ours):
        yield


def _kernel_name(name: str) -> str:
    if name not in KERNEL_NAMES:
        hint = f"write one of: {', '.join(KERNEL_NAMES)}"
        raise EngineUnavailable("testbed", f"no kernel has the congestion control {name!r}", hint)
    return KERNEL_NAMES[name]


def _require(name: str) -> None:
    """A socket asks for it: the kernel loads the module if it has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        except OSError as error:
            if error.errno == errno.EPERM:
                missing, hint = f"{name!r} is for root on this machine", "run as root"
            else:
                missing = f"this kernel has no congestion control {name!r}"
                hint = f"load it with `modprobe tcp_{name}`, or write another one"
            raise EngineUnavailable("testbed", missing, hint) from error


@contextmanager
def _registered(ours: list[str]) -> Iterator[None]:
    loader = _start(bpf.built(), ours)
    try:
        _await_ready(loader)
    except BaseException:
        _end(loader)
        raise
    try:
        yield
    finally:
        _end(loader)
        _await_gone(ours)


def _start(tools: Path, ours: list[str]) -> subprocess.Popen[str]:
    """In a session of its own: an interrupt at the keyboard must not end it before the flows."""
    objects = [str(tools / f"{_OBJECTS[name]}.o") for name in ours]
    pipe = subprocess.PIPE
    command = [str(tools / "loader"), *objects]
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


def _await_ready(loader: subprocess.Popen[str]) -> None:
    assert loader.stdout is not None
    for line in loader.stdout:
        event = json.loads(line)
        if event["event"] == "ready":
            return
        if event["event"] == "error":
            raise _refused(event)
    missing = f"the loader of congestion controls ended with status {loader.wait()}"
    raise EngineUnavailable("testbed", missing, "look at the kernel's log (`dmesg`)")


def _refused(event: dict[str, str]) -> EngineUnavailable:
    name = Path(event["name"]).stem
    if event["code"] == "name-taken":
        hint = "wait until it has ended"
        return EngineUnavailable("testbed", f"another run has the congestion control {name}", hint)
    hint = "run as root, on Linux 6.4 or later with BPF, its JIT and type information (BTF)"
    return EngineUnavailable("testbed", f"{name}: {event['message']}", hint)


def _end(loader: subprocess.Popen[str]) -> None:
    """Its input closes, and it ends; what it still says is of no use."""
    try:
        loader.communicate(timeout=_GONE_WITHIN_S)
    except subprocess.TimeoutExpired:
        loader.kill()
        loader.communicate()


def _await_gone(ours: list[str]) -> None:
    """The kernel takes a name off its list some milliseconds after the loader's end."""
    until = time.monotonic() + _GONE_WITHIN_S
    while set(ours) & set(_AVAILABLE.read_text().split()) and time.monotonic() < until:
        time.sleep(0.005)
