"""A kernel's queue in the way of the testbed's data: tbf and pfifo in a namespace in the middle.

Packets leave the sending side over one veth into the middle, wait there before the kernel's own
shaper, come back over another veth, and are forwarded to the TUN device. A shaper on the sending
side itself would not do: TCP sees drops of its own host's queues, and limits what it puts there.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyroute2 import IPRoute

from forebay.engines.testbed import namespaces
from forebay.engines.testbed.endpoint import TUN
from forebay.engines.testbed.plan import NamespacePair, pair_for

PACKET = 1514  # bytes that tbf counts on a veth: with the Ethernet header
BURST_PACKETS = 3  # with one only, tbf was seen to lose 14 % of its rate
BACK = 100  # the routing table for packets that come back from the middle


class Middle:
    """Makes the middle for every pair that it is handed, and remembers what its queue dropped."""

    def __init__(self, rate_bps: float, waiting: int) -> None:
        # On Ethernet's wire the IP packet of 1500 bytes has 14 more, as tbf counts: the rate is
        # raised by that, so that IP packets leave as fast as on a link without them.
        self.bytes_per_s = round(rate_bps / 8 * PACKET / 1500)
        self.limit = waiting + 1  # the kernel counts the one that is next as well
        self.drops = 0

    @contextmanager
    def pair_for(self, scenario: Any, workload: Any, record: Any) -> Iterator[NamespacePair]:
        with pair_for(scenario, workload, record) as pair:
            sending = pair.left.namespace
            middle = sending.replace("-send", "-mid")
            record.will_make(middle)
            namespaces.make(middle)
            self._join(sending, middle)
            yield pair
            self.drops = namespaces.inside(middle, _drops)

    def _join(self, sending: str, middle: str) -> None:
        namespaces.inside(sending, lambda: _veths(middle))
        namespaces.inside(middle, self._shape)
        namespaces.inside(sending, _send_through)

    def _shape(self) -> None:
        _forward()
        with IPRoute() as kernel:
            _up(kernel, "ma", "192.0.2.2")
            back = _up(kernel, "mb", "192.0.2.5")
            kernel.route("add", dst="10.128.0.0/9", gateway="192.0.2.6", oif=back)
            kernel.tc(
                "add", "tbf", back, 0x10000,
                rate=self.bytes_per_s, burst=BURST_PACKETS * PACKET, limit=1_000_000,
            )  # fmt: skip
            kernel.tc("add", "pfifo", back, 0x20000, parent=0x10001, limit=self.limit)
            kinds = {q.get_attr("TCA_KIND") for q in kernel.get_qdiscs(back)}
            assert {"tbf", "pfifo"} <= kinds


def _veths(middle: str) -> None:
    with IPRoute() as kernel:
        for ours, theirs in (("va", "ma"), ("vb", "mb")):
            peer = {"ifname": theirs, "net_ns_fd": str(namespaces.path_of(middle))}
            kernel.link("add", ifname=ours, kind="veth", peer=peer)


def _send_through() -> None:
    _forward()
    Path("/proc/sys/net/ipv4/conf/vb/accept_local").write_text("1")
    with IPRoute() as kernel:
        there = _up(kernel, "va", "192.0.2.1")
        _up(kernel, "vb", "192.0.2.6")
        (tun,) = kernel.link_lookup(ifname=TUN)
        kernel.route("replace", dst="10.128.0.0/9", gateway="192.0.2.2", oif=there)
        kernel.route("add", dst="10.128.0.0/9", oif=tun, table=BACK, scope=253)
        kernel.rule("add", iifname="vb", table=BACK, priority=10)


def _up(kernel: IPRoute, name: str, address: str) -> int:
    (index,) = kernel.link_lookup(ifname=name)
    kernel.addr("add", index=index, address=address, prefixlen=30)
    kernel.link("set", index=index, gso_max_segs=1, state="up")
    return int(index)


def _forward() -> None:
    switches = Path("/proc/sys/net/ipv4")
    (switches / "ip_forward").write_text("1")
    for each in ("all", "default"):
        for name in ("rp_filter", "send_redirects"):
            (switches / "conf" / each / name).write_text("0")


def _drops() -> int:
    """Return what the kernel's queue dropped over the whole run."""
    with IPRoute() as kernel:
        (back,) = kernel.link_lookup(ifname="mb")
        (tbf,) = [q for q in kernel.get_qdiscs(back) if q.get_attr("TCA_KIND") == "tbf"]
        return int(tbf.get_attr("TCA_STATS2").get_attr("TCA_STATS_QUEUE")["drops"])
