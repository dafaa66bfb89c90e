"""Congestion controls: those of the kernel, and ours, which it loads as BPF programs."""

import errno
import hashlib
import json
import os
import platform
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from forebay.catalogue import CONTROLS
from forebay.engines.testbed.errors import unavailable
from forebay.engines.testbed.registry import Owner

SOURCES = Path(__file__).with_name("bpf_programs")
"""Source code of the programs. A wheel contains it, as a checkout does."""
_BTF = Path("/sys/kernel/btf/vmlinux")
_TIMEOUT_S = 60


def built() -> Path:
    """Return the folder with objects and loader of these sources; compile them if missing.

    Raises EngineUnavailable: the kernel cannot load them, or a compiler or library is missing.
    """
    if not _BTF.exists():
        raise unavailable("engine-unavailable.no-types", path=_BTF)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    digest = hashlib.sha256(platform.machine().encode())  # a changed source is compiled again
    for path in sorted(SOURCES.glob("*.[ch]")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    folder = Path(home) / "forebay" / "congestion" / digest.hexdigest()[:16]
    if not folder.exists():
        _build(folder)
    return folder


def _build(folder: Path) -> None:
    """Build in a temporary folder, then rename it: no process ever sees an incomplete build."""
    if shutil.which("clang") is None:
        raise unavailable("engine-unavailable.no-clang")
    folder.parent.mkdir(parents=True, exist_ok=True)
    _remove_halves(folder.parent)
    temporary = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=folder.parent))
    try:
        for source in sorted(SOURCES.glob("*.bpf.c")):
            out = temporary / source.name.replace(".bpf.c", ".o")
            _compile("-O2", "-g", "-target", "bpf", "-c", str(source), "-o", str(out))
        _compile("-O2", str(SOURCES / "loader.c"), "-lbpf", "-o", str(temporary / "loader"))
        temporary.rename(folder)
    except OSError:
        if not folder.exists():
            raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _remove_halves(place: Path) -> None:
    """Remove temporary folders of killed builds; skip those of a live process."""
    for path in place.glob("*-*"):
        pid = path.name.partition("-")[0]
        if pid.isdigit() and Owner.of(int(pid)) is None:
            shutil.rmtree(path, ignore_errors=True)


def _compile(*arguments: str) -> None:
    done = subprocess.run(
        ["clang", *arguments], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    if done.returncode:
        wrong = next((line for line in done.stderr.splitlines() if "error" in line), "failed")
        raise unavailable("engine-unavailable.clang", said=wrong)


KERNEL_NAMES = {each.name: each.in_kernel for each in CONTROLS.values() if each.in_kernel}
"""Kernel names of the congestion controls of a scenario that a kernel can have.

The kernel may have its own `bic` or `scalable`, so ours have other names, of at most 15
characters."""
_OBJECTS = {each.in_kernel: each.bpf_program for each in CONTROLS.values() if each.bpf_program}
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_GONE_WITHIN_S = 5.0


@contextmanager
def ensure(names: Iterable[str]) -> Iterator[None]:
    """Register these congestion controls (scenario names) while the context is open.

    Ours are registered for the whole machine, for root only. The kernel removes them afterwards,
    also if this process is killed. Only one run at a time can register them.

    Raises EngineUnavailable: this machine cannot provide one of them; other congestion controls may
    still run.
    """
    asked = list(names)
    for name in asked:
        if name not in KERNEL_NAMES:
            known = ", ".join(KERNEL_NAMES)
            raise unavailable("engine-unavailable.in-no-kernel", name=name, known=known)
    wanted = sorted({KERNEL_NAMES[name] for name in asked})
    ours = [name for name in wanted if name in _OBJECTS]
    for name in wanted:
        if name not in _OBJECTS:
            _require(name)
    with _registered(ours) if ours else nullcontext():
        yield


def _require(name: str) -> None:
    """Set it on a socket, so that the kernel loads the module if there is one."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        except OSError as error:
            raise unavailable(
                "engine-unavailable.control-of-root" if error.errno == errno.EPERM
                else "engine-unavailable.no-control", name=name,
            ) from error  # fmt: skip


@contextmanager
def _registered(ours: list[str]) -> Iterator[None]:
    leaving = sorted(set(ours) - set(_AVAILABLE.read_text().split()))  # all, once they are in
    tools, pipe = built(), subprocess.PIPE
    command = [str(tools / "loader"), *(str(tools / f"{_OBJECTS[name]}.o") for name in ours)]
    # It has its own session: Ctrl-C must not end it before the flows end.
    loader = subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )
    try:
        _await_ready(loader)
        leaving = ours
        yield
    finally:
        _end(loader)
        _await_gone(leaving)


def _await_ready(loader: subprocess.Popen[str]) -> None:
    assert loader.stdout is not None
    for line in loader.stdout:
        event = json.loads(line)
        if event["event"] == "ready":
            return
        if event["event"] == "error":
            raise unavailable(
                "engine-unavailable.control-taken" if event["code"] == "name-taken"
                else "engine-unavailable.control-refused",
                name=Path(event["name"]).stem, said=event.get("message", ""),
            )  # fmt: skip
    raise unavailable("engine-unavailable.loader", status=loader.wait())


def _end(loader: subprocess.Popen[str]) -> None:
    """Close its standard input, which ends it; discard its remaining output."""
    try:
        loader.communicate(timeout=_GONE_WITHIN_S)
    except subprocess.TimeoutExpired:
        loader.kill()
        loader.communicate()


def _await_gone(ours: list[str]) -> None:
    """Wait: the kernel removes a name from its list milliseconds after the loader ends."""
    until = time.monotonic() + _GONE_WITHIN_S
    while set(ours) & set(_AVAILABLE.read_text().split()) and time.monotonic() < until:
        time.sleep(0.005)
