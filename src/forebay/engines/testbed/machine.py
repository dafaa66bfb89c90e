"""This machine: whether the testbed can run on it, and its facts for the Outcome."""

import os
import platform
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from forebay.engines.testbed.errors import unavailable
from forebay.packages import wanted

_PROGRAM = "forebay-emulator"
_PACKAGE = Path(__file__).resolve().parents[2]
_NEEDED = (12, 21)  # CAP_NET_ADMIN, CAP_SYS_ADMIN; linux/capability.h
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_MODULES = Path("/sys/module")
_CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")


def check() -> None:
    """Refuse a machine that lacks what every run needs.

    Raises EngineUnavailable: the system is not Linux, we are not root, or TUN, pyroute2 or the
    emulator is missing.
    """
    if sys.platform != "linux":
        raise unavailable("engine-unavailable.no-linux", system=sys.platform)
    emulator()
    if not is_root():
        raise unavailable("engine-unavailable.needs-root")
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        raise unavailable("engine-unavailable.no-tun")
    try:
        import pyroute2  # noqa: F401
    except ImportError as error:
        raise unavailable("engine-unavailable.no-pyroute2", wanted=wanted("pyroute2")) from error


def is_root() -> bool:
    """Return whether we may make namespaces and devices, as root of the machine itself.

    The root of a container may lack the capabilities. The root of a user namespace has them only
    inside it.
    """
    status = Path("/proc/self/status").read_text().splitlines()
    held = int(next(line.split()[1] for line in status if line.startswith("CapEff:")), 16)
    everyone = Path("/proc/self/uid_map").read_text().split() == ["0", "0", "4294967295"]
    return everyone and all(held >> capability & 1 for capability in _NEEDED)


def emulator() -> Path:
    """Return FOREBAY_EMULATOR, or the program next to this Python, the wheel's, or the PATH's."""
    places = (Path(sys.executable).parent / _PROGRAM, _PACKAGE / "bin" / _PROGRAM, _PROGRAM)
    installed = next((path for place in places if (path := shutil.which(place))), None)
    program = os.environ.get("FOREBAY_EMULATOR") or installed
    if program is None or not os.access(program, os.X_OK):
        raise unavailable("engine-unavailable.no-emulator", name=program or _PROGRAM)
    return Path(program)


def describe(controls: Iterable[str]) -> dict[str, Any]:
    """Return the facts of the machine that a measurement depends on.

    They include the parameters of kernel modules that have any, such as those of HyStart.
    """
    parameters: dict[str, dict[str, str]] = {}
    for name in controls:
        for file in sorted((_MODULES / f"tcp_{name}" / "parameters").glob("*")):
            parameters.setdefault(name, {})[file.name] = file.read_text().strip()
    return {
        "kernel": platform.release(),
        "cores": os.cpu_count(),
        "clock_source": _CLOCK.read_text().strip() if _CLOCK.exists() else None,
        "congestion_controls": _AVAILABLE.read_text().split(),
        "congestion_parameters": parameters,
    }
