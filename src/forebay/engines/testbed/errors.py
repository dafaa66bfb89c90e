"""Errors of a real machine, each with a hint on what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from forebay.engines.errors import EngineUnavailable
from forebay.words import Fact

NAME = "testbed"

_EXPECTED = Fact("testbed.expected")
unavailable = partial(EngineUnavailable, engine=NAME)
"""The error of a machine that lacks something."""


class TestbedError(EngineUnavailable):
    """The kernel, or the emulator, refused a step; ``hint`` is for a kind that has none."""

    __test__ = False  # not a test case, although its name begins with Test

    def __init__(self, kind: str, hint: str | Fact = _EXPECTED, **values: Any) -> None:
        own = Fact(kind, **values).hint
        super().__init__(kind, own if str(own) else hint, engine=NAME, **values)


class GateFailed(TestbedError):
    """Every run missed its timing limits: the machine is too slow for the rate, or busy.

    ``steal`` is the share of time that a hypervisor took from the core that lost most.
    ``stalled`` says that stalls were the only faults: the machine was busy for milliseconds.
    """

    def __init__(self, kind: str, steal: float = 0.0, stalled: bool = False, **values: Any) -> None:
        super().__init__(kind, steal=steal, **values)
        self.steal, self.stalled = steal, stalled


@contextmanager
def asking(kind: str, **values: Any) -> Iterator[None]:
    """Turn a failed system or netlink call into one line: the request and the answer."""
    # pyroute2 is imported only where a namespace is made, so its error is recognized by name.
    try:
        yield
    except EngineUnavailable:
        raise
    except Exception as error:
        number, answer = _read(error)
        if number is None:
            raise
        root = number in (1, 13)  # EPERM, EACCES
        hint = Fact("engine-unavailable.needs-root").hint if root else _EXPECTED
        raise TestbedError(kind, hint, answer=answer, **values) from error


def _read(error: Exception) -> tuple[int | None, str]:
    """Return errno and text of an OSError or pyroute2 NetlinkError; None for any other error."""
    if isinstance(error, OSError):
        return error.errno or 0, error.strerror or str(error)
    if type(error).__name__ == "NetlinkError" and error.args:
        return int(error.args[0]), str(error.args[-1])
    return None, ""
