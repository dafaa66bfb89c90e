"""Arrays as fields of an answer: read from JSON, compared by value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import (
    BeforeValidator,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)

from forebay.outcome.document import Closed
from forebay.outcome.reading import FloatArray, Histogram, IntArray


def _floats(values: Any) -> FloatArray:
    return np.asarray(values, dtype=np.float64)  # None becomes NaN


def _numbers(values: FloatArray) -> list[float | None]:
    if np.isnan(values).any():
        return [None if np.isnan(value) else value for value in values.tolist()]
    return list(values.tolist())


Floats = Annotated[
    FloatArray,
    BeforeValidator(_floats),
    PlainSerializer(_numbers),
    WithJsonSchema({"type": "array", "items": {"type": ["number", "null"]}}),
]
"""Numbers; NaN is null in JSON."""


def _ints(values: Any) -> IntArray:
    try:
        return np.asarray(values, dtype=np.int64)
    except TypeError as error:
        raise ValueError(f"whole numbers expected ({error})") from None


Ints = Annotated[
    IntArray,
    BeforeValidator(_ints),
    PlainSerializer(lambda values: values.tolist()),
    WithJsonSchema({"type": "array", "items": {"type": "integer"}}),
]


def _histogram(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Histogram(_floats(value["edges"]), _floats(value["counts"]))
    return value


Bins = Annotated[
    Histogram,
    BeforeValidator(_histogram),
    PlainSerializer(lambda bins: {"edges": bins.edges.tolist(), "counts": bins.counts.tolist()}),
    WithJsonSchema(
        {
            "type": "object",
            "properties": {
                name: {"type": "array", "items": {"type": "number"}} for name in ("edges", "counts")
            },
            "required": ["edges", "counts"],
            "additionalProperties": False,
        }
    ),
]


class WithArrays(Closed):
    """A part with arrays; other values of its document are recomputed when it is read."""

    model_config = Closed.model_config | {"arbitrary_types_allowed": True}

    @model_validator(mode="before")
    @classmethod
    def _without_computed(cls, document: Any) -> Any:
        if not isinstance(document, Mapping):
            return document
        computed = {each.alias or name for name, each in cls.model_computed_fields.items()}
        # A field's name in Python may be the name of a computed field in JSON.
        given = {n for n, each in cls.model_fields.items() if each.alias not in (None, *document)}
        dropped = computed - given
        return {name: value for name, value in document.items() if name not in dropped}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.model_dump() == other.model_dump()

    def __hash__(self) -> int:
        return hash(type(self).__name__)  # arrays do not hash
