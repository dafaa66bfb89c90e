"""Errors of a real machine, each with a hint on what to do."""

from collections.abc import Iterator
from contextlib import contextmanager

from forebay.engines.errors import EngineUnavailable
from forebay.words import Fact

NAME = "testbed"

_EXPECTED = "check that the kernel has the feature, and nothing else manages these interfaces"
_NEEDS_ROOT = (
    "run it as root of the machine, or of a container with CAP_NET_ADMIN, CAP_SYS_ADMIN and "
    "/dev/net/tun; the root of a user namespace does not suffice"
)


class TestbedError(EngineUnavailable):
    """The kernel, or the emulator, refused a step."""

    __test__ = False  # not a test case, although its name begins with Test

    def __init__(self, what: str | Fact, hint: str | Fact = _EXPECTED) -> None:
        super().__init__(NAME, what, hint)
        self.code = "testbed"


class GateFailed(TestbedError):
    """Every run missed its timing limits: the machine is too slow for the rate, or busy.

    ``steal`` is the share of time that a hypervisor took from the core that lost most.
    ``stalled`` says that stalls were the only faults: the machine was busy for milliseconds.
    """

    def __init__(
        self, what: str, hint: str = _EXPECTED, steal: float = 0.0, stalled: bool = False
    ) -> None:
        super().__init__(what, hint)
        self.code, self.steal, self.stalled = "gate-failed", steal, stalled


def needs_root(what: str) -> EngineUnavailable:
    """Return the error for a machine on which this process lacks the privileges."""
    return EngineUnavailable(NAME, what, _NEEDS_ROOT)


@contextmanager
def asking(what: str, hint: str = "") -> Iterator[None]:
    """Turn a failed system or netlink call into one line: the request and the error."""
    # pyroute2 is imported only where a namespace is made, so its error is recognized by name.
    try:
        yield
    except EngineUnavailable:
        raise
    except Exception as error:
        number, answer = _read(error)
        if number is None:
            raise
        if not hint and number in (1, 13):  # EPERM, EACCES
            hint = _NEEDS_ROOT
        raise TestbedError(f"{what}: {answer}", hint or _EXPECTED) from error


def _read(error: Exception) -> tuple[int | None, str]:
    """Return errno and text of an OSError or pyroute2 NetlinkError; None for any other error."""
    if isinstance(error, OSError):
        return error.errno or 0, error.strerror or str(error)
    if type(error).__name__ == "NetlinkError" and error.args:
        return int(error.args[0]), str(error.args[-1])
    return None, ""
