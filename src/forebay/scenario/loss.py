"""Loss of a link for other reasons than a full queue, such as the errors of a radio."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, Strict, model_validator

from forebay.errors import entry
from forebay.scenario.base import Between, ScenarioModel
from forebay.scenario.errors import ScenarioError, show

if TYPE_CHECKING:
    from typing import Unpack

    from forebay.scenario.inputs import LossDict

_PROBABILITY = Between(0, 1, "fraction")
_Probability = Annotated[float, Strict(), _PROBABILITY]
_CHANGES = ("good_to_bad", "bad_to_good")


class Loss(ScenarioModel):
    """Random loss of a link, by its seed: independent (Bernoulli), or in bursts (Gilbert-Elliott).

    A number alone is the rate.
    """

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[LossDict]) -> None: ...

    rate: _Probability | None = Field(
        default=None,
        description="Probability of each loss, independent of the others. Or leave it out and "
        "write good_to_bad and bad_to_good.",
        examples=[0.001],
    )
    good_to_bad: _Probability | None = Field(
        default=None,
        description="Gilbert-Elliott channel: probability that the state has changed from good to "
        "bad when the next packet comes (tc netem gemodel's p).",
    )
    bad_to_good: _Probability | None = Field(
        default=None,
        description="The same from bad to good (gemodel's r): bursts last 1 / bad_to_good packets.",
    )
    loss_in_bad: _Probability | None = Field(
        default=None,
        description="Probability of loss in the bad state (gemodel's 1-h); 1 if it is not set.",
    )
    loss_in_good: _Probability | None = Field(
        default=None,
        description="Probability of loss in the good state (gemodel's 1-k); 0 if it is not set.",
    )
    unit: Literal["packet", "byte"] = Field(
        default="packet",
        description="What the probabilities of loss are of: a packet, or each byte of it. A packet "
        "of n bytes is then lost with probability 1 - (1 - p)^n.",
    )
    place: Literal["after-queue", "before-queue"] = Field(
        default="after-queue",
        description='"after-queue": on the wire; lost packets have waited and take their time of '
        'the link. "before-queue": the queue never sees them.',
    )

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        changes = [name for name in _CHANGES if getattr(self, name) is not None]
        states = [*changes, *(n for n in ("loss_in_bad", "loss_in_good") if self._has(n))]
        if self.rate is not None and states:
            wrong, hint = "cannot be set beside rate", "leave it out, or leave rate out"
            raise ScenarioError("contradiction", wrong, hint, field=states[0])
        if self.rate is None and len(changes) < len(_CHANGES):
            missing = next(name for name in _CHANGES if name not in changes)
            field = missing if states else "rate"
            example = entry(field, 0.25 if states else 0.001)
            raise ScenarioError("missing", "is not written", f"write {example}", field=field)
        return self

    def _has(self, name: str) -> bool:
        return getattr(self, name) is not None

    @property
    def in_states(self) -> tuple[float, float]:
        """Probability of loss in the good and in the bad state."""
        if self.rate is not None:
            return self.rate, self.rate
        good, bad = self.loss_in_good, self.loss_in_bad
        return (0.0 if good is None else good), (1.0 if bad is None else bad)

    @property
    def changes(self) -> tuple[float, float]:
        """Probability that the state changes from good to bad, and back."""
        return self.good_to_bad or 0.0, 1.0 if self.bad_to_good is None else self.bad_to_good

    def mean(self, packet: int) -> float:
        """Return the share of packets of so many bytes that are lost in the long run."""
        to_bad, to_good = self.changes
        bad = to_bad / (to_bad + to_good) if to_bad else 0.0
        good_loses, bad_loses = (self._of_packet(each, packet) for each in self.in_states)
        return (1.0 - bad) * good_loses + bad * bad_loses

    def _of_packet(self, probability: float, packet: int) -> float:
        return probability if self.unit == "packet" else 1.0 - (1.0 - probability) ** packet


def _rate_alone(data: Any) -> Any:
    """Return the table of a number."""
    if isinstance(data, int | float) and not isinstance(data, bool):
        return {"rate": data}
    if data is None or isinstance(data, Mapping | Loss):
        return data
    wrong = f"{show(data)} is neither a number nor a table"
    hint = f"write a probability, such as {entry('loss', 0.001)}, or a table"
    raise ScenarioError("wrong-type", wrong, hint, value=data)


RATE_OR_TABLE = BeforeValidator(_rate_alone, json_schema_input_type=float | Loss | None)
"""Validator of a field with a Loss: a number is its rate."""
