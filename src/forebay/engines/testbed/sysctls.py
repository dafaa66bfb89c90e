"""Sysctls of one namespace: sets them and reads them back."""

from __future__ import annotations

from pathlib import Path

from forebay.engines.testbed.errors import TestbedError, asking

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
