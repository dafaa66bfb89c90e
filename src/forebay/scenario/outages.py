"""Times at which a link does not send."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from forebay.errors import entry
from forebay.scenario.base import DAY, Between, ScenarioModel
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import Duration, Rate
from forebay.scenario.rate_trace import RateTrace

if TYPE_CHECKING:
    from typing import Unpack

    from forebay.scenario.inputs import OutagesDict

_MOST = 100_000
_EXAMPLE: list[list[str]] = [["10 s", "12 s"]]


class Outages(ScenarioModel):
    """When a link is down: it sends nothing. A list alone is the times."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[OutagesDict]) -> None: ...

    times: tuple[tuple[Duration, Duration], ...] = Field(
        description="When it goes down and when up again, ascending, from the run's start.",
        examples=[_EXAMPLE],
    )
    period: Annotated[Duration | None, Between(Duration(1e-6), DAY)] = Field(
        default=None, description="After which they begin again; not set: they do not."
    )
    queue: Literal["hold", "drop"] = Field(
        default="hold",
        description='What becomes of packets that arrive meanwhile: "hold" lets them wait, as far '
        'as the queue has room; "drop" drops them. What waits stays either way.',
    )

    @model_validator(mode="after")
    def _ascend(self) -> Self:
        instants = list(chain.from_iterable(self.times))
        gaps = [later - sooner for sooner, later in pairwise(instants)]
        end = DAY if self.period is None else self.period
        around = [
            *instants[:1],
            *([] if self.period is None else [end - max(instants, default=end)]),
        ]
        always = self.period is not None and len(instants) == 2 and instants == [0, self.period]
        faults = {
            f"has not 1 to {_MOST} entries": not 1 <= len(self.times) <= _MOST,
            "has times that do not ascend": min(gaps, default=1) < 0
            or min(instants, default=0) < 0,
            "has outages that touch, write one": 0 in gaps[1::2],
            "has times less than 1 us apart": min(gaps, default=1) < 1e-6,
            "goes down or up less than 1 us from an end of the period": any(
                0 < gap < 1e-6 for gap in around
            ),
            f"ends after {end}": instants and instants[-1] > end,
            "leaves no time in which the link sends": always,
        }
        for wrong, holds in faults.items():
            if holds:
                hint = f"write pairs of when it goes down and up, such as {_EXAMPLE}"
                raise ScenarioError("out-of-range", wrong, hint, field="times")
        return self

    @property
    def share_up(self) -> float:
        """Share of the period in which it sends; 1 where the outages do not repeat."""
        if self.period is None:
            return 1.0
        return 1.0 - sum(up - down for down, up in self.times) / self.period

    def rates(self, rate: Rate) -> RateTrace:
        """Return the rate over time of a link that has this rate while it is up."""
        steps = [(Duration(0), rate)]
        for down, up in self.times:
            steps += [(down, Rate(0)), (up, rate)]
        if float(steps[1][0]) == 0.0:
            del steps[0]
        length = self.period or Duration(steps[-1][0] + 1)
        if steps[-1][0] == length:
            del steps[-1]
        repeat = self.period is not None
        # Nothing is left to check; and the last step may lie at the end of the longest period.
        return RateTrace.model_construct(steps=tuple(steps), period=length, repeat=repeat)


def _times_alone(data: Any) -> Any:
    """Return the table of a list."""
    if data is None or isinstance(data, Mapping | Outages):
        return data
    if isinstance(data, list | tuple):
        return {"times": data}
    hint = f"write a list of pairs, such as {entry('down', _EXAMPLE)}, or a table"
    raise ScenarioError("wrong-type", "is neither a list nor a table", hint, value=data)


TIMES_OR_TABLE = BeforeValidator(
    _times_alone,
    json_schema_input_type=tuple[tuple[Duration, Duration], ...] | Outages | None,
)
"""Validator of a field with Outages: a list is their times."""
