"""One side of the testbed: a namespace, its TUN device, addresses and routes."""

import fcntl
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, summarize_address_range
from pathlib import Path
from typing import Any

import numpy as np

from forebay.engines.errors import Unsupported
from forebay.engines.testbed import namespaces
from forebay.engines.testbed.errors import NAME, TestbedError, asking
from forebay.scenario import Scenario, Tcp
from forebay.words import Fact
from forebay.workload import Workload

_PLACE = Path("/proc/sys/net")

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
_WITHOUT_IPV6 = {f"ipv6/conf/{which}/disable_ipv6": "1" for which in ("all", "default")}


def apply(*, sack: bool) -> dict[str, str]:
    """Set the sysctls of this thread's namespace; return the values that they then have.

    Raises TestbedError: the kernel refused one, or returns another value than was written.
    """
    wanted = {**_STANDING, "ipv4/tcp_sack": str(int(sack))}
    if (_PLACE / "ipv6").is_dir():
        wanted |= _WITHOUT_IPV6
    for name, value in wanted.items():
        path = _PLACE / name
        with asking("testbed.setting", path=path, to=value):
            path.write_text(value)
            read = " ".join(path.read_text().split())
        if read != value:
            raise TestbedError("testbed.other-sysctl", path=path, read=read, value=value)
    return {"net." + name.replace("/", "."): value for name, value in wanted.items()}


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
    own, peers : addresses that are local here, configured together as one prefix (AnyIP), and
        addresses of the other side.
    paths : routes within ``peers``, for classes with their own metrics.
    offload : whether TCP may give the device bursts of as many segments as 64 KiB hold.
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
        namespaces.make(self.namespace)
        return namespaces.inside(self.namespace, self._furnish)

    @property
    def _most_segments(self) -> int:
        return GSO_MAX_SEGS if self.offload else 1

    def _furnish(self) -> dict[str, str]:
        from pyroute2 import IPRoute

        read = apply(sack=self.sack)
        with (
            asking("testbed.making-tun", device=TUN, namespace=self.namespace),
            open("/dev/net/tun", "r+b", buffering=0) as device,
        ):
            request = struct.pack("16sH22x", TUN.encode(), _IFF_TUN | _IFF_NO_PI)
            fcntl.ioctl(device, _TUNSETIFF, request)
            fcntl.ioctl(device, _TUNSETPERSIST, 1)
        with asking("testbed.furnishing", namespace=self.namespace), IPRoute() as kernel:
            with asking("testbed.setting-up", device=TUN, namespace=self.namespace):
                lo, tun = _index(kernel, "lo"), _index(kernel, TUN)
                kernel.link("set", index=lo, state="up")
                kernel.link(
                    "set", index=tun, mtu=self.mtu, txqlen=QUEUE_PACKETS,
                    gso_max_segs=self._most_segments,
                )  # fmt: skip
                kernel.tc("replace", "noqueue", tun, parent=_ROOT)
                kernel.link("set", index=tun, state="up")
            with asking("testbed.making-local", network=self.own, namespace=self.namespace):
                kernel.route(
                    "add", dst=str(self.own), oif=lo, type="local", table=_LOCAL_TABLE,
                    scope=_SCOPE_HOST,
                )  # fmt: skip
            for path in (ClassRoute(self.peers), *self.paths):
                with asking("testbed.routing", network=path.network, namespace=self.namespace):
                    kernel.route(
                        "add", dst=str(path.network), oif=tun, scope=_SCOPE_LINK,
                        metrics=dict(path.metrics),
                    )  # fmt: skip
            self._read_back(kernel, tun)
        return read

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
            raise TestbedError(
                "testbed.other-device", device=TUN, namespace=self.namespace, read=read,
                wanted=wanted,
            )  # fmt: skip
        routes = {}
        for route in kernel.get_routes(_DUMP_IPV4):
            attributes = (route.get_attr("RTA_METRICS") or {"attrs": []})["attrs"]
            metrics = {name.removeprefix("RTAX_").lower(): value for name, value in attributes}
            routes[f"{route.get_attr('RTA_DST')}/{route['dst_len']}"] = metrics
        for path in self.paths:
            found = routes.get(str(path.network))
            if found != path.metrics:
                raise TestbedError(
                    "testbed.other-route", network=path.network, read=found, wanted=path.metrics
                )


def _index(kernel: Any, name: str) -> int:
    indices = kernel.link_lookup(ifname=name)
    if not indices:
        raise TestbedError("testbed.no-device", device=name)
    return int(indices[0])


SENDERS = IPv4Network("10.64.0.0/10")
RECEIVERS = IPv4Network("10.128.0.0/9")
MOST_FLOWS = SENDERS.num_addresses
# linux/rtnetlink.h: the kernel reads rto_min of a route only if the metric is locked.
_LOCK_RTO_MIN = 1 << 13
_FEATURE_ECN = 1
_MS_PER_S = 1e3


def routes(scenario: Scenario, workload: Workload) -> tuple[list[ClassRoute], list[ClassRoute]]:
    """Return the routes with metrics on the left and on the right side.

    Data of a class goes from left to right, or right to left if the class is reverse. Sockets take
    ECN from their route, the sending one initial window and minimum RTO too, the receiving one
    quick ACKs.

    Raises Unsupported: there are more flows than addresses.
    """
    if len(workload) > MOST_FLOWS:
        what = Fact("unsupported.flows", flows=len(workload), most=MOST_FLOWS)
        raise Unsupported(NAME, what, "traffic")
    left: list[ClassRoute] = []
    right: list[ClassRoute] = []
    for index, group in enumerate(scenario.traffic):
        flows = np.flatnonzero(workload.traffic_class == index)
        if not isinstance(group, Tcp) or not flows.size:
            continue
        first, last = int(flows[0]), int(flows[-1])
        assert last - first + 1 == flows.size, "a workload is drawn class after class"
        ecn = {"features": _FEATURE_ECN} if group.ecn else {}
        on_left, on_right = dict(ecn), dict(ecn)
        if group.initial_window is not None:
            on_left["initcwnd"] = group.initial_window
        if group.min_rto is not None:
            least_ms = max(1, round(group.min_rto * _MS_PER_S))
            on_left |= {"rto_min": least_ms, "lock": _LOCK_RTO_MIN}
        if group.delayed_ack is False:
            on_right["quickack"] = 1
        if group.direction == "reverse":
            on_left, on_right = on_right, on_left
        left += _to(RECEIVERS, first, last, on_left)
        right += _to(SENDERS, first, last, on_right)
    return left, right


def _to(peers: IPv4Network, first: int, last: int, metrics: dict[str, int]) -> Iterator[ClassRoute]:
    if metrics:
        for network in summarize_address_range(peers[first], peers[last]):
            yield ClassRoute(network, metrics)
