"""How much a flow has to send: the same for all, or drawn for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from math import ceil
from typing import Any, Literal

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import NUMBER_PATTERN, plain

Law = Literal["fixed", "geometric", "pareto", "lognormal"]
Unit = Literal["packets", "bytes"]


@dataclass(frozen=True, slots=True)
class FlowLength:
    """A law of lengths, in packets or in bytes; what is drawn are whole packets, at least one.

    Attributes
    ----------
    kind
        ``fixed`` (rounded up to whole packets), ``geometric`` (from one packet on), ``pareto`` or
        ``lognormal`` (cut at ``high``, rounded to the nearest packet).
    unit
        Of ``mean``, ``deviation`` and ``high``.
    mean : float
        Expected value of the whole packets drawn.
    shape : float
        Exponent of a Pareto law's tail.
    deviation : float
        A lognormal law's standard deviation, relative to its mean before it is cut.
    high : float
        No longer flow is drawn.
    """

    kind: Law
    unit: Unit
    mean: float
    shape: float = 0.0
    deviation: float = 0.0
    high: float = 0.0

    def in_packets(self, packet_bytes: int) -> FlowLength:
        """Return the same law counted in packets of that size, parts of packets included."""
        if self.unit == "packets":
            return self
        mean, deviation, high = (x / packet_bytes for x in (self.mean, self.deviation, self.high))
        return replace(self, unit="packets", mean=mean, deviation=deviation, high=high)

    def check(self, packet_bytes: int) -> None:
        """Raise ScenarioError where whole packets cannot have the mean: they are one at least."""
        mean = self.in_packets(packet_bytes).mean
        if self.kind != "fixed" and mean <= 1:
            wrong = f"a mean of {mean:.3g} packets of {int(packet_bytes)} B"
            raise ScenarioError("out-of-range", wrong, "write a mean above 1 packet")

    def mean_packets(self, packet_bytes: int) -> float:
        """Return the expected number of whole packets."""
        mean = self.in_packets(packet_bytes).mean
        return float(ceil(mean)) if self.kind == "fixed" else mean

    def most_packets(self, packet_bytes: int) -> float:
        """Return the most packets that can be drawn; infinite for a geometric law."""
        if self.kind == "geometric":
            return float("inf")
        return self.mean_packets(packet_bytes) if self.kind == "fixed" else self.high

    def canonical(self) -> dict[str, list[float]]:
        """Return base units, the same for every way of writing it."""
        return {f"{self.kind} {self.unit}": [self.mean, self.shape, self.deviation, self.high]}

    def amount(self, value: float) -> str:
        """Return one of its numbers with the unit."""
        return (
            f"{plain(Decimal(repr(float(value))))} {'packets' if self.unit == 'packets' else 'B'}"
        )

    def written(self) -> str | dict[str, Any]:
        """Return the form that a scenario file holds."""
        mean, high = self.amount(self.mean), self.amount(self.high)
        match self.kind:
            case "fixed":
                return mean
            case "geometric":
                return {"geometric": mean}
            case "pareto":
                return {"pareto": {"mean": mean, "shape": self.shape, "high": high}}
            case _:
                spread = self.amount(self.deviation)
                return {"lognormal": {"mean": mean, "deviation": spread, "high": high}}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from forebay.scenario import length_tables

        return core_schema.no_info_plain_validator_function(
            length_tables.parse,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda law, info: law.written() if info.mode == "json" else law.canonical(),
                info_arg=True,
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        one = {"type": "string", "pattern": NUMBER_PATTERN, "x-unit": "packets or B"}
        shape = {"type": "number", "exclusiveMinimum": 0}
        laws: dict[str, dict[str, Any]] = {
            "geometric": one,
            "pareto": _table({"mean": one, "shape": shape, "high": one}, "mean", "shape"),
            "lognormal": _table({"mean": one, "deviation": one, "high": one}, "mean", "deviation"),
        }
        return {"anyOf": [one, *(_table({name: law}, name) for name, law in laws.items())]}


def _table(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
