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
}

REFUSED = {
    "eos": "no public page was found that says how a tail-drop size of one queue is written "
    "there, what it counts and how chips round it",
}
"""Platforms for which nothing is written, because a wrong line would be worse than none."""

_SAME = {"arista": "eos", "arista-eos": "eos", "nxos": "nx-os", "nexus": "nx-os"}


def names() -> tuple[str, ...]:
    """Return the names of all platforms."""
    return tuple(_PLATFORMS)


def get(name: str) -> Platform:
    """Return a platform. Raises PlatformError for a refused or unknown one."""
    known = _SAME.get(name, name)
    if known in REFUSED:
        raise refused(known)
    if known not in _PLATFORMS:
        wrong = f'"{short(name)}" is not a platform of Forebay'
        raise PlatformError("unknown-platform", wrong, f"write one of {', '.join(names())}")
    platform: Platform = import_module(f"forebay.platforms.{_PLATFORMS[known]}").PLATFORM
    return platform


def refused(name: str) -> PlatformError:
    """Return the error for a refused platform."""
    wrong = f"{name} is refused: {REFUSED[name]}"
    hint = "use the bytes and milliseconds of another platform's comment, and its own manual"
    return PlatformError("not-verified", wrong, hint)
