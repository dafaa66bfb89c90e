"""A fraction to reach on the whole, or in nearly every round trip."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import Discriminator, Field, GetCoreSchemaHandler, Strict, Tag
from pydantic_core import CoreSchema, core_schema

from forebay.scenario.base import ScenarioModel
from forebay.scenario.bounds import SHARE

if TYPE_CHECKING:
    from typing import Unpack

    from forebay.scenario.inputs import AtLeastTableDict, AtMostTableDict


class AtLeastTable(ScenarioModel):
    """The share of the round trips that reach the fraction is at least ``probability``."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[AtLeastTableDict]) -> None: ...

    example: ClassVar[dict[str, Any]] = {"at_least": 0.98, "probability": 0.99}
    at_least: Annotated[float, Strict()] = Field(examples=[0.98], description="The least share.")
    probability: Annotated[float, Strict(), SHARE] = Field(
        examples=[0.99], description="The share of the round trips that reach it."
    )


class AtMostTable(ScenarioModel):
    """The share of the round trips that stay below the fraction is at least ``probability``."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[AtMostTableDict]) -> None: ...

    example: ClassVar[dict[str, Any]] = {"at_most": 0.01, "probability": 0.99}
    at_most: Annotated[float, Strict()] = Field(examples=[0.01], description="The most.")
    probability: Annotated[float, Strict(), SHARE] = Field(
        examples=[0.99], description="The share of the round trips that reach it."
    )


def _form_of(value: object) -> str:
    is_table = isinstance(value, Mapping | AtLeastTable | AtMostTable)
    return "table" if is_table else "number"


class Target(float):
    """The fraction itself; ``probability`` is None where the mean is meant.

    With a probability it is Yang, Zhang, Xu 2013's kind of goal (§III): the share of the
    round trips that reach the fraction, each taken for itself, is at least ``probability``.
    """

    forms: ClassVar[Any]
    """The discriminated union of what is written: a number, or a table."""
    sense: ClassVar[str]
    probability: float | None

    def __new__(cls, value: float, probability: float | None = None) -> Self:
        made = super().__new__(cls, value)
        made.probability = probability
        return made

    @classmethod
    def _of(cls, written: Any) -> Self:
        if isinstance(written, float):
            return cls(written)
        return cls(getattr(written, cls.sense), written.probability)

    def written(self) -> float | dict[str, float]:
        """Return the form that a scenario file holds."""
        if self.probability is None:
            return float(self)
        return {self.sense: float(self), "probability": self.probability}

    def __eq__(self, other: object) -> bool:
        same = getattr(other, "probability", None) == self.probability
        return same and float(self).__eq__(other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((float(self), self.probability))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(cls.written)
        return core_schema.no_info_wrap_validator_function(
            lambda value, read: value if isinstance(value, cls) else cls._of(read(value)),
            handler.generate_schema(cls.forms),
            serialization=written,
        )


_Number = Annotated[float, Strict(), Tag("number")]


class AtLeast(Target):
    """0.98, or { at_least = 0.98, probability = 0.99 }."""

    sense = "at_least"
    forms = Annotated[_Number | Annotated[AtLeastTable, Tag("table")], Discriminator(_form_of)]


class AtMost(Target):
    """0.01, or { at_most = 0.01, probability = 0.99 }."""

    sense = "at_most"
    forms = Annotated[_Number | Annotated[AtMostTable, Tag("table")], Discriminator(_form_of)]
