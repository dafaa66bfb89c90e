"""All platforms by name, and those that are refused, with the reason."""

from __future__ import annotations

from importlib import import_module

from forebay.platforms.errors import PlatformError, short
from forebay.platforms.protocol import Platform

# name: module of this package with its PLATFORM
_PLATFORMS = {
    "ios-xr": "ios_xr",
    "ios-xe": "ios_xe",
    "nx-os": "nx_os",
    "junos": "junos",
    "sros": "sros",
    "sonic": "sonic",
    "openconfig": "openconfig",
    "linux-tc": "linux_tc",
    "vyos": "vyos",
    "mikrotik": "mikrotik",
    "systemd-networkd": "networkd",
    "dummynet": "dummynet",
}

_MARKS_ONLY = {"eos": "eos"}
"""The same of those for which a step of ECN marks can be written, and no size."""

_READ_ONLY = {"vrp": "vrp"}
"""The same of those whose text is read and for which nothing is written."""

REFUSED = {
    "eos": "no public page was found that says how a tail-drop size of one queue is written "
    "there, what it counts and how chips round it; only a step of ECN marks (K) is written",
    "vrp": "no public page was found that says what its lengths count and how they round",
}
"""Platforms for which no size is written, because a wrong line would be worse than none."""

_SAME = {
    "arista": "eos",
    "arista-eos": "eos",
    "nxos": "nx-os",
    "nexus": "nx-os",
    "huawei": "vrp",
    "ipfw": "dummynet",
    "networkd": "systemd-networkd",
}


def names() -> tuple[str, ...]:
    """Return the names of all platforms for which a size can be written."""
    return tuple(_PLATFORMS)


def readable() -> tuple[str, ...]:
    """Return the names of all platforms whose text can be read."""
    return (*_PLATFORMS, *_MARKS_ONLY, *_READ_ONLY)


def get(name: str) -> Platform:
    """Return a platform. Raises PlatformError for an unknown one."""
    known, modules = _SAME.get(name, name), _PLATFORMS | _MARKS_ONLY | _READ_ONLY
    if known not in modules:
        wrong = f'"{short(name)}" is not a platform of Forebay'
        raise PlatformError("unknown-platform", wrong, f"write one of {', '.join(names())}")
    platform: Platform = import_module(f"forebay.platforms.{modules[known]}").PLATFORM
    return platform


def refused(name: str) -> PlatformError:
    """Return the error for a refused platform."""
    wrong = f"{name} is refused: {REFUSED[name]}"
    hint = "use the bytes and milliseconds of another platform's comment, and its own manual"
    return PlatformError("not-verified", wrong, hint)
