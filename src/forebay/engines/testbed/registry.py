"""A record of everything that a run creates, written before, so that it can be removed.

There is one JSON file per run in the runtime directory. A run that ends removes what its file
names, then the file. A killed run leaves its file, and the next start removes what the file names
if its owner is dead. Nothing else is ever removed: the directory and the file must belong to this
user, nobody else may write to them, and only names that a run of ours gives are believed.

The owner also locks a second file. The netlink library creates a namespace in a forked process,
which may outlive a killed owner and create the namespace later. The fork holds the same lock, so
the cleanup waits until no process holds it.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import secrets
import shutil
import signal
import stat
import struct
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from forebay.engines.testbed import plan
from forebay.engines.testbed.errors import TestbedError, asking
from forebay.engines.testbed.plan import largest_packet, offloads
from forebay.scenario import Tcp

if TYPE_CHECKING:
    from ipaddress import IPv4Network

    from forebay.scenario import Scenario
    from forebay.workload import Workload


Answer = TypeVar("Answer")

_NETNS = Path("/run/netns")


def path_of(name: str) -> Path:
    """Return the path at which a namespace is mounted, for setns."""
    return _NETNS / name


def make(name: str) -> None:
    """Make an empty namespace.

    Raises
    ------
    TestbedError
        The kernel refused.
    """
    from pyroute2 import netns

    with asking(f"making network namespace {name}"):
        if path_of(name).exists():  # pyroute2 leaks sockets when it fails
            raise FileExistsError(errno.EEXIST, "File exists")
        netns.create(name)


def remove(name: str) -> None:
    """Remove a namespace, with its devices and routes, if it exists."""
    from pyroute2 import netns

    with asking(f"removing network namespace {name}"), suppress(FileNotFoundError):
        os.stat(path_of(name))
        netns.remove(name)


def inside(name: str, work: Callable[[], Answer]) -> Answer:
    """Run `work` inside a namespace, in a thread that ends with it, and return its result.

    Only this thread enters the namespace, so the rest of the process is not affected.
    """

    def enter() -> Answer:
        from pyroute2 import netns

        with asking(f"entering network namespace {name}"):
            netns.setns(str(path_of(name)), flags=0)
        return work()

    with ThreadPoolExecutor(max_workers=1) as alone:
        return alone.submit(enter).result()


_START_TIME = 19  # index of the field after the name, proc(5); state is 0


class Owner(NamedTuple):
    """A process, its start time in clock ticks since boot, and the ID of the boot."""

    pid: int
    started: int
    boot: str

    @classmethod
    def of(cls, pid: int) -> Owner | None:
        """Return the live process with this PID, or None."""
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        if fields[0] in "ZX":
            return None
        return cls(pid, int(fields[_START_TIME]), _boot())

    @classmethod
    def here(cls) -> Owner:
        """Return this process."""
        found = cls.of(os.getpid())
        assert found is not None
        return found

    @property
    def alive(self) -> bool:
        """Whether this process still runs. Another process with the same PID does not count."""
        return Owner.of(self.pid) == self

    def end(self) -> None:
        """Kill it, if it still runs."""
        if self.alive:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


_PLACE = "/run/forebay"
_ENDING = ".json"
_HELD = ".held"
_NEW = ".new"
_LONGEST_WAIT_S = 5.0
_NAMESPACE = re.compile(r"forebay-[A-Za-z0-9_-]{1,60}")
_SCRATCH = re.compile(r"forebay-[0-9]+-[0-9]+-[0-9a-f]{16}")

_number = count()


def directory() -> Path:
    """Return the runtime directory. FOREBAY_RUNTIME_DIR overrides the default."""
    return Path(os.environ.get("FOREBAY_RUNTIME_DIR", _PLACE))


@dataclass
class RunResources:
    """Everything that one run creates. ``close`` removes it, in reverse order of creation."""

    path: Path
    owner: Owner
    namespaces: list[str] = field(default_factory=list)
    scratch: str | None = None
    children: list[Owner] = field(default_factory=list)
    _made_scratch: bool = field(default=False, repr=False)

    def will_make(self, *names: str) -> None:
        """Record namespaces, and with them their contents, before they are created."""
        self.namespaces.extend(names)
        self._write()

    def make_scratch(self) -> Path:
        """Make a folder for plan and result."""
        name = f"forebay-{self.path.stem}-{secrets.token_hex(8)}"
        self.scratch = str(Path(tempfile.gettempdir()) / name)
        self._write()
        with asking(f"making {self.scratch}", "make room there, or set TMPDIR"):
            Path(self.scratch).mkdir(mode=0o700)
        self._made_scratch = True
        return Path(self.scratch)

    def started(self, pid: int) -> None:
        """Record a child process. If we die first, the kernel ends it."""
        child = Owner.of(pid)
        if child is not None:
            self.children.append(child)
            self._write()

    def close(self) -> None:
        """Remove everything that the record names, then the record."""
        for child in self.children:
            child.end()
        for name in self.namespaces:
            remove(name)
        if self.scratch is not None and self._made_scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)
        self.path.unlink(missing_ok=True)
        self.path.with_suffix(_NEW).unlink(missing_ok=True)
        self.path.with_suffix(_HELD).unlink(missing_ok=True)

    def _write(self) -> None:
        temporary = self.path.with_suffix(_NEW)
        temporary.write_text(json.dumps(self._to_document()))
        temporary.replace(self.path)

    def _to_document(self) -> dict[str, object]:
        return {
            "path": str(self.path), "owner": self.owner, "namespaces": self.namespaces,
            "scratch": self.scratch, "children": self.children,
        }  # fmt: skip

    @classmethod
    def read(cls, path: Path) -> RunResources:
        """Read a record back.

        Raises
        ------
        ValueError
            It belongs to somebody else, or names what no run of ours makes.
        """
        if not _is_ours(path, stat.S_ISREG):
            raise ValueError(f"{path} belongs to somebody else")
        document = json.loads(path.read_text())
        namespaces_, scratch = document["namespaces"], document["scratch"]
        if not all(_NAMESPACE.fullmatch(name) for name in namespaces_):
            raise ValueError(f"{path} names another namespace")
        made = scratch is not None and bool(_SCRATCH.fullmatch(Path(scratch).name))
        return cls(
            path, Owner(*document["owner"]), namespaces_, scratch,
            [Owner(*child) for child in document["children"]],
            made and _is_ours(Path(scratch), stat.S_ISDIR),
        )  # fmt: skip


def _is_ours(path: Path, is_kind: Callable[[int], bool]) -> bool:
    """Whether a file, not a link to one, is of this kind, ours, and only we may write to it."""
    try:
        found = path.lstat()
    except OSError:
        return False
    mine = found.st_uid == os.geteuid() and not found.st_mode & 0o022
    return mine and is_kind(found.st_mode)


def _check_directory(place: Path) -> None:
    """Refuse a runtime directory in which others could plant records."""
    if not _is_ours(place, stat.S_ISDIR):
        wrong = f"{place} belongs to another user, or others may write to it"
        raise TestbedError(wrong, "set FOREBAY_RUNTIME_DIR to a folder of your own, mode 755")


@contextmanager
def recording() -> Iterator[RunResources]:
    """Remove the leftovers of dead owners, then hold our own record until the context ends."""
    place = directory()
    with asking(f"making {place}", "run it as root, or set FOREBAY_RUNTIME_DIR"):
        place.mkdir(mode=0o755, parents=True, exist_ok=True)
        _check_directory(place)
        remove_leftovers()
        record = RunResources(place / f"{os.getpid()}-{next(_number)}{_ENDING}", Owner.here())
        held = _hold(record.path.with_suffix(_HELD))
    try:
        with asking(f"writing to {place}", "make room there, or set FOREBAY_RUNTIME_DIR"):
            record._write()
        yield record
    finally:
        os.close(held)
        # An interrupt may come while our fork creates a namespace. The fork also holds the lock,
        # and without this wait it could create the namespace after the record is removed.
        _is_let_go(record.path.with_suffix(_HELD))
        record.close()


def _hold(path: Path) -> int:
    """Lock a file while this process, or a process that it forks, is alive."""
    held = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(held, fcntl.LOCK_EX)
    return held


def _is_let_go(path: Path) -> bool:
    """Wait until no process locks the file; return False after a timeout."""
    deadline = time.monotonic() + _LONGEST_WAIT_S
    with suppress(FileNotFoundError), path.open() as held:
        while True:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.01)
    return True


def remove_leftovers() -> list[str]:
    """Remove what the records of dead owners name; return the names of those records."""
    place = directory()
    if not place.is_dir():
        return []
    _check_directory(place)
    removed = []
    with _alone(place):
        for path in sorted(place.glob(f"*{_ENDING}")):
            record = _dead(path)
            if record is not None and _is_let_go(path.with_suffix(_HELD)):
                record.close()
                removed.append(path.stem)
        _remove_halves(place)
    return removed


def _dead(path: Path) -> RunResources | None:
    try:
        record = RunResources.read(path)
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not ours, or removed meanwhile
    return None if record.owner.alive else record


def _remove_halves(place: Path) -> None:
    """Remove partial files of owners that died while writing; complete records remain."""
    for path in [*place.glob(f"*{_NEW}"), *place.glob(f"*{_HELD}")]:
        pid = path.stem.partition("-")[0]
        recorded = path.suffix == _HELD and path.with_suffix(_ENDING).exists()
        if pid.isdigit() and not recorded and Owner.of(int(pid)) is None:
            path.unlink(missing_ok=True)


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    with open(place / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            yield


_SYSCTLS = Path("/proc/sys/net")

# The buffers are large enough not to limit any window. No metrics are saved between flows. No
# packet is delayed to be merged. (In a prototype, with all defaults, 97.2 read 98.0.)
_STANDING = {
    "ipv4/tcp_rmem": "4096 1048576 33554432",
    "ipv4/tcp_wmem": "4096 1048576 33554432",
    "ipv4/tcp_no_metrics_save": "1",
    "ipv4/tcp_slow_start_after_idle": "0",
    "ipv4/tcp_ecn": "0",  # classes with ECN enable it on their routes
    "ipv4/tcp_ecn_fallback": "0",  # and ECN stays on if a marking queue drops their first SYN
    "ipv4/tcp_autocorking": "0",
    "ipv4/tcp_sack": "1",
    "ipv4/tcp_max_syn_backlog": "65535",
    "ipv4/ip_local_port_range": "1024 65535",
    "ipv4/conf/all/rp_filter": "0",
    "ipv4/conf/default/rp_filter": "0",
    "core/somaxconn": "65535",
}
_WITHOUT_IPV6 = {
    "ipv6/conf/all/disable_ipv6": "1",
    "ipv6/conf/default/disable_ipv6": "1",
}


def apply(*, sack: bool) -> dict[str, str]:
    """Set the sysctls of this thread's namespace; return the values that they then have.

    Raises
    ------
    TestbedError
        The kernel refused one, or returns another value than was written.
    """
    wanted = {**_STANDING, "ipv4/tcp_sack": str(int(sack))}
    if (_SYSCTLS / "ipv6").is_dir():
        wanted |= _WITHOUT_IPV6
    return {"net." + name.replace("/", "."): _set(name, value) for name, value in wanted.items()}


def _set(name: str, value: str) -> str:
    path = _SYSCTLS / name
    with asking(f"setting {path} to {value}"):
        path.write_text(value)
        read = " ".join(path.read_text().split())
    if read != value:
        raise TestbedError(f"{path} reads {read} where {value} was written")
    return read


TUN = "fb0"
QUEUE_PACKETS = 10_000
GSO_MAX_SEGS = 65_535
"""The default of linux/netdevice.h: then the size of 64 KiB alone limits a burst."""

# linux/if_tun.h
_TUNSETIFF = 0x4004_54CA
_TUNSETPERSIST = 0x4004_54CB
_IFF_TUN = 0x0001
_IFF_NO_PI = 0x1000

# linux/rtnetlink.h
_LOCAL_TABLE = 255
_SCOPE_HOST = 254
_SCOPE_LINK = 253
_ROOT = 0xFFFF_FFFF
_DUMP_IPV4 = 2


@dataclass(frozen=True)
class ClassRoute:
    """A route to the peers of one traffic class, with the metrics that its sockets use."""

    network: IPv4Network
    metrics: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Endpoint:
    """The contents of a namespace.

    Attributes
    ----------
    own, peers : IPv4Network
        Addresses that are local here, configured together as one prefix (AnyIP),
        and addresses of the other side.
    paths : sequence of ClassRoute
        Routes within ``peers``, for classes with their own metrics.
    offload : bool
        Whether TCP may give the device bursts of as many segments as 64 KiB hold.
    """

    namespace: str
    own: IPv4Network
    peers: IPv4Network
    mtu: int
    sack: bool
    paths: Sequence[ClassRoute] = ()
    offload: bool = False

    def make(self) -> dict[str, str]:
        """Create everything, read it back, and return the values of the sysctls."""
        make(self.namespace)
        return inside(self.namespace, self._furnish)

    @property
    def _most_segments(self) -> int:
        return GSO_MAX_SEGS if self.offload else 1

    def _furnish(self) -> dict[str, str]:
        from pyroute2 import IPRoute

        read = apply(sack=self.sack)
        with asking(f"making TUN device {TUN} in {self.namespace}"):
            _make_tun()
        with asking(f"furnishing {self.namespace}"), IPRoute() as kernel:
            with asking(f"setting up {TUN} in {self.namespace}"):
                lo, tun = _index(kernel, "lo"), _index(kernel, TUN)
                kernel.link("set", index=lo, state="up")
                kernel.link(
                    "set",
                    index=tun,
                    mtu=self.mtu,
                    txqlen=QUEUE_PACKETS,
                    gso_max_segs=self._most_segments,
                )
                kernel.tc("replace", "noqueue", tun, parent=_ROOT)
                kernel.link("set", index=tun, state="up")
            self._route(kernel, lo, tun)
            self._read_back(kernel, tun)
        return read

    def _route(self, kernel: Any, lo: int, tun: int) -> None:
        with asking(f"making {self.own} local in {self.namespace}"):
            kernel.route(
                "add", dst=str(self.own), oif=lo, type="local", table=_LOCAL_TABLE,
                scope=_SCOPE_HOST,
            )  # fmt: skip
        for path in (ClassRoute(self.peers), *self.paths):
            with asking(f"routing {path.network} in {self.namespace}"):
                kernel.route(
                    "add", dst=str(path.network), oif=tun, scope=_SCOPE_LINK,
                    metrics=dict(path.metrics),
                )  # fmt: skip

    def _read_back(self, kernel: Any, tun: int) -> None:
        (link,) = kernel.get_links(tun)
        read = {
            "mtu": link.get_attr("IFLA_MTU"),
            "txqueuelen": link.get_attr("IFLA_TXQLEN"),
            "gso_max_segs": link.get_attr("IFLA_GSO_MAX_SEGS"),
            "qdisc": link.get_attr("IFLA_QDISC"),
        }
        wanted = {
            "mtu": self.mtu, "txqueuelen": QUEUE_PACKETS, "gso_max_segs": self._most_segments,
            "qdisc": "noqueue",
        }  # fmt: skip
        if read != wanted:
            raise TestbedError(f"{TUN} in {self.namespace} reads {read} where {wanted} was set")
        routes = {_destination(route): _metrics(route) for route in kernel.get_routes(_DUMP_IPV4)}
        for path in self.paths:
            if routes.get(str(path.network)) != path.metrics:
                found = routes.get(str(path.network))
                wrong = f"route {path.network} reads {found} where {path.metrics} was set"
                raise TestbedError(wrong)


def _make_tun() -> None:
    with open("/dev/net/tun", "r+b", buffering=0) as device:
        request = struct.pack("16sH22x", TUN.encode(), _IFF_TUN | _IFF_NO_PI)
        fcntl.ioctl(device, _TUNSETIFF, request)
        fcntl.ioctl(device, _TUNSETPERSIST, 1)


def _index(kernel: Any, name: str) -> int:
    found = kernel.link_lookup(ifname=name)
    if not found:
        raise TestbedError(f"there is no device {name} where it was made")
    return int(found[0])


def _destination(route: Any) -> str:
    return f"{route.get_attr('RTA_DST')}/{route['dst_len']}"


def _metrics(route: Any) -> dict[str, int]:
    found = route.get_attr("RTA_METRICS")
    named = [] if found is None else found["attrs"]
    return {name.removeprefix("RTAX_").lower(): value for name, value in named}


def can_open_tun() -> bool:
    """Return whether a TUN driver exists and this process may open it."""
    return os.access("/dev/net/tun", os.R_OK | os.W_OK)


_MTU = 1500

_pair_number = count()


@dataclass(frozen=True)
class NamespacePair:
    """The sending and the receiving side, and the values of their sysctls."""

    left: Endpoint
    right: Endpoint
    sysctls: dict[str, str]


@contextmanager
def pair_for(
    scenario: Scenario, workload: Workload, record: RunResources
) -> Iterator[NamespacePair]:
    """Create both sides for the flows of a workload. The record removes them."""
    left, right = _sides(scenario, workload)
    record.will_make(left.namespace, right.namespace)
    sysctls = left.make()
    right.make()
    yield NamespacePair(left, right, sysctls)


def has_sack(scenario: Scenario) -> bool:
    """Return whether SACK is on. It is off only if every class turns it off."""
    wanted = [group.sack for group in scenario.traffic if isinstance(group, Tcp)]
    return not wanted or any(each is not False for each in wanted)


def _sides(scenario: Scenario, workload: Workload) -> tuple[Endpoint, Endpoint]:
    plan.check_count(workload)
    name = f"forebay-{os.getpid()}-{next(_pair_number)}"
    mtu = max(_MTU, largest_packet(workload))
    sack = has_sack(scenario)
    to_right, to_left = plan.routes(scenario, workload)
    senders, receivers = plan.SENDERS, plan.RECEIVERS
    return (
        Endpoint(
            f"{name}-send", senders, receivers, mtu, sack, to_right, offloads(scenario, "forward")
        ),
        Endpoint(
            f"{name}-recv", receivers, senders, mtu, sack, to_left, offloads(scenario, "reverse")
        ),
    )
