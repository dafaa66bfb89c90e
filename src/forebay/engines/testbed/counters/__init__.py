"""Counts by the papers' methods: SNMP's interface counters and NetFlow, next to the router's own.

Both are read where a router has them: at the receivers' input device, by independent programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from forebay.engines.errors import EngineUnavailable
from forebay.engines.testbed.counters import netflow, snmp
from forebay.engines.testbed.counters.agreement import Counted, WindowClock, agreement
from forebay.engines.testbed.counters.netflow import find
from forebay.engines.testbed.errors import NAME
from forebay.packages import wanted

if TYPE_CHECKING:
    from pathlib import Path

    from forebay.engines.testbed.registry import RunResources

_READERS = {"snmp": snmp.reader, "netflow": netflow.reader}
_NEEDS = {"snmp": (snmp.PROGRAM, "pysnmp"), "netflow": (netflow.PROGRAM, "netflow")}

NAMES = tuple(_READERS)

__all__ = ["NAMES", "Counters", "agreement", "check", "counting"]


def check(names: Sequence[str]) -> None:
    """Refuse counters that cannot be read on this machine.

    Raises EngineUnavailable: the program or the library of one of them is missing.
    """
    for program, library in (_NEEDS[name] for name in names):
        if find(program) is None:
            raise EngineUnavailable(NAME, f"there is no {program}", f"`apt-get install {program}`")
        if find_spec(library) is None:
            hint = f"run `make setup`, or `pip install '{wanted(library)}'`"
            raise EngineUnavailable(NAME, f"there is no Python package {library}", hint)


class Counters:
    """Counters that are ready for one run."""

    def __init__(
        self,
        follow: dict[str, Callable[[WindowClock], Counted]],
        clock: WindowClock,
        pool: ThreadPoolExecutor,
    ) -> None:
        self._follow, self._clock, self._pool = follow, clock, pool
        self._counts: dict[str, Future[Counted]] = {}

    def begin(self, at_s: float) -> None:
        """Set the start of the router's clock; start a thread for each counter."""
        self._clock.begin(at_s)
        self._counts = {
            name: self._pool.submit(follow, self._clock) for name, follow in self._follow.items()
        }

    def counts(self) -> dict[str, Counted]:
        """Return the count of each, after the run."""
        return {name: count.result() for name, count in self._counts.items()}


@contextmanager
def counting(
    names: Sequence[str], namespace: str, scratch: Path, record: RunResources, clock: WindowClock
) -> Iterator[Counters]:
    """Start the counters' programs in a namespace; all of them end with the context."""
    with ExitStack() as made:
        follow = {
            name: made.enter_context(_READERS[name](namespace, scratch, record.started))
            for name in names
        }
        pool = made.enter_context(ThreadPoolExecutor(max_workers=max(1, len(names))))
        made.callback(clock.end)  # before the threads are joined
        yield Counters(follow, clock, pool)
