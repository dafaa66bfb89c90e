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

_MOST = 1e100
"""No reading is beyond it, and sums of squares of such numbers are still numbers."""


def _floats(values: Any) -> FloatArray:
    found: FloatArray = _list_of(values, np.float64)  # None becomes NaN
    if (np.abs(found) > _MOST).any():
        raise ValueError(f"has a number beyond {_MOST:g}")
    return found


def _list_of(values: Any, kind: type[np.generic]) -> Any:
    """Return the array of a list of numbers. Raises ValueError."""
    try:
        found = np.asarray(values, dtype=kind)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"is no list of numbers ({error})") from None
    if found.ndim != 1:
        raise ValueError("is no list of numbers")
    return found


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
    found: IntArray = _list_of(values, np.int64)
    return found


Ints = Annotated[
    IntArray,
    BeforeValidator(_ints),
    PlainSerializer(lambda values: values.tolist()),
    WithJsonSchema({"type": "array", "items": {"type": "integer"}}),
]


def _histogram(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    edges, counts = (_floats(value.get(name)) for name in ("edges", "counts"))
    ascend = bool((np.diff(edges) > 0.0).all())
    if len(edges) != len(counts) + 1 or not ascend or not (counts >= 0.0).all():
        raise ValueError("is no histogram: write ascending edges, and a count between any two")
    return Histogram(edges, counts)


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
