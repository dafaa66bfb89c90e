"""A duration that is the same for every flow of a class, or drawn for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from forebay.scenario.errors import ScenarioError, show
from forebay.scenario.quantity import NUMBER_PATTERN, Duration

_WRITE = 'write "100 ms" or { uniform = ["80 ms", "120 ms"] }'


@dataclass(frozen=True, slots=True)
class Distribution:
    """Uniform on [low, high]; a constant has both ends alike."""

    kind: Literal["constant", "uniform"]
    low: Duration
    high: Duration

    @classmethod
    def constant(cls, value: Duration) -> Self:
        """The same value for every flow."""
        return cls("constant", value, value)

    @classmethod
    def uniform(cls, low: Duration, high: Duration) -> Self:
        """Equally likely anywhere from low to high."""
        return cls("uniform", low, high)

    @property
    def mean(self) -> Duration:
        """The expected value."""
        return Duration((self.low + self.high) / 2)

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read text, or a table with the one key ``uniform``. Raises ScenarioError."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, dict):
            return cls.constant(Duration.parse(value))
        if list(value) != ["uniform"]:
            keys = ", ".join(show(key) for key in value if key != "uniform") or "nothing"
            raise ScenarioError("unknown-key", f"a distribution of {keys}", _WRITE, value=value)
        return cls.uniform(*_ends(value["uniform"]))

    def written(self) -> str | dict[str, list[str]]:
        """Return the form that a scenario file holds."""
        if self.kind == "constant":
            return str(self.low)
        return {"uniform": [str(self.low), str(self.high)]}

    def canonical(self) -> dict[str, list[float]]:
        """Return base units, the same for every way of writing it."""
        return {self.kind: [float(self.low), float(self.high)]}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.parse,
            serialization=core_schema.plain_serializer_function_ser_schema(
                cls.written, when_used="json"
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        one = {"type": "string", "pattern": NUMBER_PATTERN, "x-unit": "s"}
        ends = {"type": "array", "items": one, "minItems": 2, "maxItems": 2}
        table = {
            "type": "object",
            "properties": {"uniform": ends},
            "required": ["uniform"],
            "additionalProperties": False,
        }
        return {"anyOf": [one, table]}


def _ends(value: object) -> tuple[Duration, Duration]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        wrong = "uniform needs its two ends"
        raise ScenarioError("wrong-type", wrong, _WRITE, field="uniform", value=value)
    low, high = _end(value, 0), _end(value, 1)
    if low > high:
        wrong, hint = f"{low} is above {high}", "write the smaller end first"
        raise ScenarioError("out-of-range", wrong, hint, field="uniform", value=value)
    return low, high


def _end(value: list[object] | tuple[object, ...], index: int) -> Duration:
    try:
        return Duration.parse(value[index])
    except ScenarioError as error:
        raise error.at("", f"uniform.{index}") from None
