"""One side of the testbed: a namespace, its TUN device, addresses and routes."""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forebay.engines.testbed import namespaces, sysctls
from forebay.engines.testbed.errors import TestbedError, asking

if TYPE_CHECKING:
    from ipaddress import IPv4Network

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
        namespaces.make(self.namespace)
        return namespaces.inside(self.namespace, self._furnish)

    @property
    def _most_segments(self) -> int:
        return GSO_MAX_SEGS if self.offload else 1

    def _furnish(self) -> dict[str, str]:
        from pyroute2 import IPRoute

        read = sysctls.apply(sack=self.sack)
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
