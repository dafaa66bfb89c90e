"""Kernel switches of one namespace: what is set, and what it reads afterwards."""

from __future__ import annotations

from pathlib import Path

from forebay.engines.testbed.errors import TestbedError, asking

_PLACE = Path("/proc/sys/net")

# Buffers large enough that no window is limited by them; nothing remembered from flow to flow;
# no packet held back to be merged (measured in a prototype: with all of it stock, 97.2 read 98.0).
_STANDING = {
    "ipv4/tcp_rmem": "4096 1048576 33554432",
    "ipv4/tcp_wmem": "4096 1048576 33554432",
    "ipv4/tcp_no_metrics_save": "1",
    "ipv4/tcp_slow_start_after_idle": "0",
    "ipv4/tcp_ecn": "0",  # classes that want it ask by their routes
    "ipv4/tcp_ecn_fallback": "0",  # and keep it when a queue that marks drops their first SYN
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
    """Set the switches of the namespace that this thread is in; return what they then read.

    Raises
    ------
    TestbedError
        The kernel refused one, or reads another value than was written.
    """
    wanted = {**_STANDING, "ipv4/tcp_sack": str(int(sack))}
    if (_PLACE / "ipv6").is_dir():
        wanted |= _WITHOUT_IPV6
    return {"net." + name.replace("/", "."): _set(name, value) for name, value in wanted.items()}


def _set(name: str, value: str) -> str:
    path = _PLACE / name
    with asking(f"setting {path} to {value}"):
        path.write_text(value)
        read = " ".join(path.read_text().split())
    if read != value:
        raise TestbedError(f"{path} reads {read} where {value} was written")
    return read
