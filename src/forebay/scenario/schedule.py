"""When flows are switched on and off."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import TYPE_CHECKING, Annotated, Self, Unpack

from pydantic import Field, model_validator

from forebay.scenario.base import DAY, Between, ScenarioModel
from forebay.scenario.distribution import AnyDistribution
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import Duration

if TYPE_CHECKING:
    from forebay.scenario import inputs

_SPANS = Between(Duration(0), DAY)
_LEAST = Duration(1e-3)
_MOST = 10_000


class Schedule(ScenarioModel):
    """On and off times, drawn for each flow from its start on, or the same times for all flows.

    >>> forebay.Schedule(on="10 s", off="5 s")
    Schedule(on='10 s', off='5 s')
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[inputs.ScheduleDict]) -> None: ...

    on: Annotated[AnyDistribution | None, _SPANS] = Field(
        default=None, examples=[{"exponential": "2 s"}]
    )
    """How long a flow sends at a time: a distribution. It begins with its start."""
    off: Annotated[AnyDistribution | None, _SPANS] = Field(
        default=None, examples=[{"exponential": "5 s"}]
    )
    """How long it is silent between: a distribution."""
    times: tuple[tuple[Duration, Duration], ...] | None = Field(
        default=None, examples=[[["0 s", "10 s"], ["20 s", "30 s"]]]
    )
    """Or when all flows are switched on and off, ascending, from the run's start."""
    period: Annotated[Duration | None, Between(_LEAST, DAY)] = None
    """After which times begin again; not set: they do not."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.times is None:
            missing = next((name for name in ("on", "off") if getattr(self, name) is None), None)
            if missing is not None:
                hint = 'write both on and off, such as { exponential = "2 s" }, or times'
                raise ScenarioError("missing", "is not written", hint, field=missing)
            if self.period is not None:
                hint = "leave it out, or write times"
                raise ScenarioError("contradiction", "is of times", hint, field="period")
            self._check_means()
            return self
        for name in ("on", "off"):
            if getattr(self, name) is not None:
                hint = "leave one of the two out"
                raise ScenarioError("contradiction", "stands by times", hint, field=name)
        self._check_times(self.times)
        return self

    def _check_means(self) -> None:
        for name, law in (("on", self.on), ("off", self.off)):
            if law is not None and law.mean < _LEAST:
                wrong, hint = f"is {law.mean} in the mean", f"write {_LEAST} or more"
                raise ScenarioError("out-of-range", wrong, hint, field=name)

    def _check_times(self, times: tuple[tuple[Duration, Duration], ...]) -> None:
        instants = list(chain.from_iterable(times))
        end = DAY if self.period is None else self.period
        apart = all(later > sooner for sooner, later in pairwise(instants))
        faults = {
            f"has not 1 to {_MOST} entries": not 1 <= len(times) <= _MOST,
            "has times that do not ascend": not apart or any(each < 0 for each in instants[:1]),
            f"ends after {end}": any(each > end for each in instants[-1:]),
        }
        for wrong, holds in faults.items():
            if holds:
                hint = 'write pairs of when they are switched on and off, such as [["0 s", "10 s"]]'
                raise ScenarioError("out-of-range", wrong, hint, field="times")

    def periods_in(self, seconds: float) -> float:
        """Return the expected on-times of a flow in ``seconds``."""
        if self.times is not None:
            cycles = 1.0 if self.period is None else seconds / self.period + 1.0
            return len(self.times) * cycles
        assert self.on is not None and self.off is not None, "by `_one_kind`"
        return 1.0 + seconds / (self.on.mean_within(seconds) + self.off.mean_within(seconds))
