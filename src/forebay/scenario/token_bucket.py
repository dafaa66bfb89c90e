"""A token bucket: what a shaper lets pass, or a policer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from forebay.errors import entry
from forebay.scenario.base import RATES, ScenarioModel
from forebay.scenario.bounds import Between
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import DataSize, Duration, Rate

if TYPE_CHECKING:
    from typing import Unpack

    from forebay.scenario.inputs import TokenBucketDict

_BURSTS = Between(DataSize(100), DataSize(10**12))
_EXCESSES = Between(DataSize(0), DataSize(10**12))


class TokenBucket(ScenarioModel):
    """A rate, and how far traffic may be ahead of it. The bucket begins full."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[TokenBucketDict]) -> None: ...

    rate: Annotated[Rate, RATES] = Field(
        description="At which tokens come (CIR); at most the rate of the link.",
        examples=["21 Mbit/s"],
    )
    burst: Annotated[DataSize | None, _BURSTS] = Field(
        default=None,
        description="Committed burst (Bc; tc's burst): at least the largest packet. Needed, but not "
        'where refill = "deficit", which keeps no tokens.',
        examples=["72 kB"],
    )
    excess: Annotated[DataSize, _EXCESSES] = Field(
        default=DataSize(0),
        description="Excess burst (Be): the bucket holds so much more after a pause.",
    )
    refill: Literal["continuous", "interval", "deficit"] = Field(
        default="continuous",
        description='How tokens come: "continuous", as in tc\'s tbf, or Bc of them once an '
        '"interval", Tc = Bc / rate, as in a router that shapes by a timer; "deficit": a packet goes '
        "when those before it have taken their time at the rate, as from a wire of it (the bandwidth "
        "of tc's cake).",
    )

    @model_validator(mode="after")
    def _burst_where_tokens_are_kept(self) -> Self:
        keeps = self.refill != "deficit"
        if keeps and self.burst is None:
            hint = f"write one, such as {entry('burst', '15 kB')}, or {entry('refill', 'deficit')}"
            raise ScenarioError("missing", "is not written", hint, field="burst")
        if not keeps and (self.burst is not None or self.excess):
            field = "excess" if self.burst is None else "burst"
            wrong, hint = 'refill = "deficit" keeps no tokens', "leave it out, or write another refill"
            raise ScenarioError("contradiction", wrong, hint, field=field)
        return self

    @property
    def depth(self) -> int:
        """The most that the bucket holds, bytes."""
        return int((self.burst or 0) + self.excess)

    @property
    def interval(self) -> Duration:
        """Tc, the time in which Bc comes, seconds."""
        return Duration(8 * (self.burst or 0) / self.rate)
