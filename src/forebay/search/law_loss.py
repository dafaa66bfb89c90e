"""Whether a loss is usable by a published law, where no run can say it.

The loss of long flows goes as the inverse square of their window. Flows of a smaller link have
smaller windows, so the loss there says nothing of the whole link's; a law's band does, where a law
covers the traffic (`laws.response`, with the band of the simulations that it was compared with).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.search.acceptable_loss import ACCEPTABLE

if TYPE_CHECKING:
    from forebay.scenario import Scenario
    from forebay.search.problem import LossBand, Problem

_USABLE = f"{100 * ACCEPTABLE:g} %"


def usable_by_law(problem: Problem, packets: int, most: int) -> tuple[int | None, str]:
    """Return the smallest size from ``packets`` to ``most`` with a usable loss, and why.

    If the law says that none has, it returns ``packets``; None, with the reason, if no law decides.
    """
    try:
        return _LossByLaw(problem).usable(packets, most)
    except _Unknown as unknown:
        return None, str(unknown)


def usable_from(problem: Problem, measured: float, packets: int, most: int) -> int | None:
    """Return the smallest size to ``most`` with a usable loss, from what was measured with one.

    The law only says how the loss falls as the buffer grows: its band is about the loss itself,
    which was measured. None if no law covers the traffic, or no such size has a usable loss.
    """
    try:
        return _LossByLaw(problem).usable_from(measured, packets, most)
    except _Unknown:
        return None


class _Unknown(Exception):
    """No law says whether the loss is usable; ``str()`` is the reason."""


@dataclass(frozen=True, slots=True)
class _LossByLaw:
    """The loss of the whole link by the law that covers its traffic."""

    problem: Problem

    def usable_from(self, measured: float, packets: int, most: int) -> int | None:
        """See `usable_from`."""
        here = self._worst(packets).high
        # The law's loss of which the share that was measured is usable.
        bound = here * ACCEPTABLE / measured
        if self._worst(most).high > bound:
            return None
        return self._first(packets, most, bound)

    def usable(self, packets: int, most: int) -> tuple[int, str]:
        """See `usable_by_law`."""
        here = self._worst(packets)
        if here.high <= ACCEPTABLE:
            return packets, f"the loss law gives at most {_percent(here.high)}, which is usable"
        end = self._worst(max(most, packets))
        if end.low > ACCEPTABLE:
            why = f"the loss law gives {_percent(end.low)} or more with any size within the goals"
            return packets, f"{why}: none has a usable loss of {_USABLE}"
        if end.high > ACCEPTABLE:
            raise _Unknown(
                f"loss was measured only with smaller windows, and the loss law gives "
                f"{_percent(here.low)} to {_percent(here.high)} with {packets} packets: whether "
                f"that is usable ({_USABLE} at most) is not decided"
            )
        found = self._first(packets, most, ACCEPTABLE)
        at_most = _percent(self._worst(found).high)
        lossy = f"with {packets} packets the loss law gives up to {_percent(here.high)}"
        return found, f"{lossy}; here at most {at_most}, which is usable"

    def _first(self, lossy: int, usable: int, bound: float) -> int:
        """Return the smallest size with at most so much; the loss falls as the buffer grows."""
        while usable - lossy > 1:
            middle = (lossy + usable) // 2
            if self._worst(middle).high <= bound:
                usable = middle
            else:
                lossy = middle
        return usable

    def _worst(self, packets: int) -> LossBand:
        """Return the band of the number of flows that loses most."""
        law = self.problem.law_context.loss
        bands = [None if law is None else law(end, packets) for end in self._ends()]
        known = [band for band in bands if band is not None]
        if len(known) < len(bands):
            raise _Unknown(
                "loss was measured only with smaller windows, and no law gives that of the whole "
                "link: whether it is usable is not known"
            )
        return max(known, key=lambda band: band.high)

    def _ends(self) -> list[Scenario]:
        problem = self.problem
        if not problem.scenario.flows_uncertain:
            return [problem.scenario]
        return [end.scenario for end in problem.ends()]


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"
