"""PLAN.json, schema 1: the emulator's input. `crates/emulator/src/plan.rs` reads it."""

from __future__ import annotations

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
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from forebay.catalogue import CONTROLS
from forebay.engines.errors import EngineUnavailable
from forebay.engines.replication import COUNT_BYTES, Layout, Watched, n_parts, picoseconds
from forebay.engines.testbed import endpoint, registry
from forebay.engines.testbed.endpoint import TUN
from forebay.engines.testbed.registry import Owner
from forebay.scenario import Tcp

if TYPE_CHECKING:
    from forebay.engines.replication import Bucket, ClassSpec, LinkJitter, LinkLoss, LinkSpec
    from forebay.scenario import RateTrace, Scenario, Traffic
    from forebay.workload import Workload


SOURCES = Path(__file__).with_name("bpf_programs")
"""Source code of the programs. A wheel contains it, as a checkout does."""

_BTF = Path("/sys/kernel/btf/vmlinux")
_INSTALL = "install the compiler: `apt-get install clang libbpf-dev`"
_TIMEOUT_S = 60


def built() -> Path:
    """Return the folder with objects and loader of these sources; compile them if missing.

    Raises
    ------
    EngineUnavailable
        The kernel cannot load them, or a compiler or library is missing.
    """
    _require_type_information()
    folder = _cache() / _digest()
    if not folder.exists():
        _build(folder)
    return folder


def _require_type_information() -> None:
    if not _BTF.exists():
        hint = "use a kernel with CONFIG_DEBUG_INFO_BTF, 6.4 or later"
        raise EngineUnavailable("testbed", f"the kernel has no type information ({_BTF})", hint)


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "forebay" / "congestion"


def _digest() -> str:
    """Return a digest of all compiled sources, so that a changed source is compiled again."""
    digest = hashlib.sha256(platform.machine().encode())
    for path in sorted(SOURCES.glob("*.[ch]")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _build(folder: Path) -> None:
    """Build in a temporary folder, then rename it: no process ever sees an incomplete build."""
    if shutil.which("clang") is None:
        raise EngineUnavailable("testbed", "clang is missing", _INSTALL)
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
        raise EngineUnavailable("testbed", f"clang: {wrong}", _INSTALL)


KERNEL_NAMES = {
    each.name: each.in_kernel for each in CONTROLS.values() if each.in_kernel is not None
}
"""Kernel names of the congestion controls of a scenario that a kernel can have.

The kernel may have its own `bic` or `scalable`, so ours have other names, of at most 15
characters."""

_OBJECTS = {
    each.in_kernel: each.bpf_program for each in CONTROLS.values() if each.bpf_program is not None
}
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_GONE_WITHIN_S = 5.0


@contextmanager
def ensure(names: Iterable[str]) -> Iterator[None]:
    """Register these congestion controls (scenario names) while the context is open.

    Ours are registered for the whole machine, for root only. The kernel removes them afterwards,
    also if this process is killed. Only one run at a time can register them.

    Raises
    ------
    EngineUnavailable
        This machine cannot provide one of them; other congestion controls may still run.
    """
    wanted = sorted({_kernel_control(name) for name in names})
    ours = [name for name in wanted if name in _OBJECTS]
    for name in wanted:
        if name not in _OBJECTS:
            _require(name)
    if not ours:
        yield
        return
    with _registered(ours):
        yield


def _kernel_control(name: str) -> str:
    if name not in KERNEL_NAMES:
        hint = f"write one of: {', '.join(KERNEL_NAMES)}"
        raise EngineUnavailable("testbed", f"no kernel has the congestion control {name!r}", hint)
    return KERNEL_NAMES[name]


def _require(name: str) -> None:
    """Set it on a socket, so that the kernel loads the module if there is one."""
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
    before = set(_AVAILABLE.read_text().split())
    loader = _start(built(), ours)
    try:
        _await_ready(loader)
    except BaseException:
        _end(loader)
        _await_gone([name for name in ours if name not in before])
        raise
    try:
        yield
    finally:
        _end(loader)
        _await_gone(ours)


def _start(tools: Path, ours: list[str]) -> subprocess.Popen[str]:
    """Start the loader in its own session: Ctrl-C must not end it before the flows end."""
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
    raise EngineUnavailable("testbed", missing, "read the kernel's log (`dmesg`)")


def _refused(event: dict[str, str]) -> EngineUnavailable:
    name = Path(event["name"]).stem
    if event["code"] == "name-taken":
        hint = "wait until it has ended"
        return EngineUnavailable("testbed", f"another run has the congestion control {name}", hint)
    hint = "run as root, on Linux 6.4 or later with BPF, its JIT and type information (BTF)"
    return EngineUnavailable("testbed", f"{name}: {event['message']}", hint)


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


SCHEMA = 1
SAMPLE_S = 0.05
_SMALLEST_PACKET = 28
"""Bytes of a UDP header without data: the smallest packet that sockets send."""


class Places(NamedTuple):
    """Names of the two namespaces, and of the other files of the run."""

    left: str
    right: str
    result: Path
    capture: Path | None = None


def make_plan(
    scenario: Scenario,
    workload: Workload,
    layout: Layout,
    places: Places,
    watched: Watched | None = None,
) -> dict[str, Any]:
    """Return the plan as a JSON-serializable dict. Times are in picoseconds."""
    return {
        "schema": SCHEMA,
        "seed": workload.tie_break_seed,
        "warmup_ps": picoseconds(scenario.measure.warmup),
        "window_ps": picoseconds(scenario.measure.duration),
        "batches": n_parts(scenario),
        "result": str(places.result),
        "sender": _side(places.left, offloads(scenario, "forward")),
        "receiver": _side(places.right, offloads(scenario, "reverse")),
        "first_sender": str(endpoint.SENDERS[0]),
        "first_receiver": str(endpoint.RECEIVERS[0]),
        "links": [plan_link(link) for link in layout.links],
        "memory_bytes": None if scenario.memory is None else int(scenario.memory),
        "routes": [list(route) for route in layout.routes],
        "classes": [
            _class(group, last)
            for group, last in zip(scenario.traffic, layout.last_link, strict=True)
        ],
        "flows": _flows(workload),
        "congestion_controls": [_kernel_name(name) for name in workload.congestion_controls],
        "packets": _packets(workload),
        "sessions": _sessions(workload),
        "sample_ps": picoseconds(SAMPLE_S),
        "trace": None if watched is None else _trace(watched),
        "capture": None if places.capture is None else str(places.capture),
    }


def plan_link(link: LinkSpec) -> dict[str, Any]:
    """Return the entry of a link in the plan."""
    return {
        "name": link.name,
        "rate_bps": link.wire_bps or link.rate_bps,
        "buffer_packets": link.buffer_packets,
        "packet_bytes": link.packet_bytes,
        "discipline": link.discipline,
        "parameters": _parameters(link),
        "transmit_ring": link.transmit_ring,
        "delay_ps": link.delay_ps,
        "alpha": link.alpha,
        "shaper": _bucket(link.shaper),
        "policer": _bucket(link.policer),
        "loss": _loss(link.loss),
        "rate_trace": _rates(link.rate_trace),
        "drops_while_down": link.drops_while_down,
        "jitter": _jitter(link.jitter),
        "classes": [_class_queue(each) for each in link.classes],
        "class_of": link.class_of,
    }


def built_link(link: LinkSpec) -> dict[str, Any]:
    """Return a link as the emulator's `ready` event must report it after it built the link."""
    return {
        "discipline": link.discipline,
        "limit": _limit(link),
        "transmit_ring": link.transmit_ring,
        "rate_bps": link.wire_bps or link.rate_bps,
        "delay_ps": link.delay_ps,
        "alpha": link.alpha,
    }


def _limit(link: LinkSpec) -> dict[str, int]:
    """Return the queue limit; for several class queues, the largest possible packet count."""
    if link.classes:
        return {"packets": sum(_most_packets(each) for each in link.classes)}
    if link.counts_bytes:
        return {"bytes": link.buffer_packets * link.packet_bytes}
    return {"packets": link.buffer_packets}


def _most_packets(queue: ClassSpec) -> int:
    if queue.discipline not in COUNT_BYTES:
        return queue.buffer_packets
    return max(1, queue.buffer_packets * queue.packet_bytes // _SMALLEST_PACKET)


def _class_queue(queue: ClassSpec) -> dict[str, Any]:
    return {
        "discipline": queue.discipline,
        "parameters": _parameters(queue),
        "buffer_packets": queue.buffer_packets,
        "packet_bytes": queue.packet_bytes,
        "priority": queue.priority,
        "weight": queue.weight,
        "min_rate_bps": queue.min_rate_bps,
        "max_rate": queue.max_rate,
    }


def _bucket(bucket: Bucket | None) -> dict[str, Any] | None:
    if bucket is None:
        return None
    rate_bps, burst, excess, refill = bucket
    return {
        "rate_bps": rate_bps, "burst_bytes": burst, "excess_bytes": excess, "refill": refill,
    }  # fmt: skip


def _loss(loss: LinkLoss | None) -> dict[str, Any] | None:
    names = "in_good", "in_bad", "good_to_bad", "bad_to_good", "of_bytes", "before_queue"
    return None if loss is None else dict(zip(names, loss, strict=True))


def _rates(trace: RateTrace | None) -> dict[str, Any] | None:
    if trace is None:
        return None
    return dict(zip(("steps", "period_ps", "repeats"), trace.for_core(), strict=True))


def _jitter(jitter: LinkJitter | None) -> dict[str, Any] | None:
    if jitter is None:
        return None
    most_ps, share, _ = jitter
    return {"most_ps": most_ps, "share": share}


def _parameters(queue: LinkSpec | ClassSpec) -> dict[str, float]:
    return {name: float(value) for name, value in queue.parameters.items()}


def _kernel_name(name: str) -> str:
    """Return the kernel's name, or the same name if no kernel has it (no flow then uses it)."""
    return KERNEL_NAMES.get(name, name)


def offloads(scenario: Scenario, direction: str) -> bool:
    """Return whether the hosts that send that way have segmentation offload: one does."""
    tcp = [group for group in scenario.traffic if isinstance(group, Tcp)]
    return any(group.offloads for group in tcp if group.direction == direction)


def _side(namespace: str, offload: bool) -> dict[str, Any]:
    return {"netns": str(registry.path_of(namespace)), "tun": TUN, "offload": offload}


def _class(group: Traffic, last_link: int) -> dict[str, Any]:
    tcp = group if isinstance(group, Tcp) else None
    return {
        # The program sends all datagrams alike, at the times of the plan.
        "kind": "udp" if tcp is None else group.kind,
        "ecn": tcp is not None and tcp.ecn,
        "max_window": None if tcp is None else tcp.max_window,
        "reverse": group.direction == "reverse",
        "last_link": last_link,
    }


def _flows(workload: Workload) -> dict[str, list[Any]]:
    # A class has one route, so the route index equals the class index.
    return {
        "class": workload.traffic_class.tolist(),
        "route": workload.traffic_class.tolist(),
        "congestion_control": workload.congestion_control.tolist(),
        "rtt_ps": workload.rtt_ps.tolist(),
        "start_ps": workload.start_ps.tolist(),
        "segments": workload.segments.tolist(),
        "packet_bytes": workload.packet_bytes.tolist(),
        "access_bps": workload.access_bps.tolist(),
        "access_group": workload.access_group.tolist(),
    }


def _packets(workload: Workload) -> dict[str, list[int]] | None:
    packets = workload.packets
    if packets is None:
        return None
    return {
        "offsets": packets.offsets.tolist(),
        "at_ps": packets.at_ps.tolist(),
        "bytes": packets.bytes.tolist(),
    }


def _sessions(workload: Workload) -> dict[str, list[int]] | None:
    sessions = workload.sessions
    if sessions is None:
        return None
    return {
        "offsets": sessions.offsets.tolist(),
        "segments": sessions.segments.tolist(),
        "think_ps": sessions.think_ps.tolist(),
    }


def _trace(watched: Watched) -> dict[str, Any]:
    return {"step_ps": picoseconds(watched.step_s), "flows": list(watched.flows)}


def largest_packet(workload: Workload) -> int:
    """Return the bytes of the largest packet, headers included."""
    sizes = [workload.packet_bytes]
    if workload.packets is not None:
        sizes.append(workload.packets.bytes)
    return max((int(np.max(each)) for each in sizes if each.size), default=0)
