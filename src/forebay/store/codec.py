"""A replication as bytes, and back.

The bytes are a compressed JSON tree with the arrays behind it. An array stands in the tree by its
number; equal arrays (the edges of histograms) are written once. The bytes of an array's items are
regrouped by place, which makes them a third smaller.
"""

from __future__ import annotations

import json
import math
import zlib
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.engines.base import Replication
from forebay.outcome.reading import (
    ClassReading,
    ControllerReading,
    Histogram,
    LinkReading,
    LongFlows,
    Reading,
    RoundTrips,
    Slowdowns,
)

_KINDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        Replication, Reading, LinkReading, ClassReading, ControllerReading, LongFlows, RoundTrips,
        Histogram, Slowdowns,
    )
}  # fmt: skip
_TYPES = ("<f8", "<i8")
_MOST_BYTES = 2**30
"""A larger replication is not read: bytes may claim any size."""

Array = NDArray[Any]


class NotReadable(ValueError):
    """Bytes that are no replication."""


def to_blob(replication: Replication) -> bytes:
    """Return a replication as bytes."""
    arrays: dict[tuple[str, tuple[int, ...], bytes], int] = {}
    tree = _to_tree(replication, arrays)
    shapes = [[kind, *shape] for kind, shape, _ in arrays]
    head = json.dumps([tree, shapes]).encode()
    body = b"".join(_regrouped(data) for *_, data in arrays)
    return zlib.compress(len(head).to_bytes(8, "little") + head + body, 1)


def from_blob(blob: bytes) -> Replication:
    """Read what `to_blob` wrote. Raises NotReadable."""
    try:
        unpacked = zlib.decompressobj()
        data = unpacked.decompress(blob, _MOST_BYTES)
        end = 8 + int.from_bytes(data[:8], "little")
        tree, shapes = json.loads(data[8:end])
        found = _from_tree(tree, _arrays(data, end, shapes))
    except (zlib.error, ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
        raise NotReadable(str(error)) from error
    if not isinstance(found, Replication):
        raise NotReadable("not a replication")
    return found


def _to_tree(value: Any, arrays: dict[tuple[str, tuple[int, ...], bytes], int]) -> Any:
    if isinstance(value, np.ndarray):
        plain = np.ascontiguousarray(value, _TYPES[value.dtype.kind == "i"])
        key = (plain.dtype.str, plain.shape, plain.tobytes())
        return {"array": arrays.setdefault(key, len(arrays))}
    if type(value).__name__ in _KINDS:
        names = _names(type(value).__name__)
        return {type(value).__name__: [_to_tree(getattr(value, name), arrays) for name in names]}
    if isinstance(value, dict):
        return {"dict": {name: _to_tree(each, arrays) for name, each in value.items()}}
    if isinstance(value, list | tuple):
        return [_to_tree(each, arrays) for each in value]
    return value.item() if isinstance(value, np.generic) else value


@cache
def _names(kind: str) -> tuple[str, ...]:
    """Return the fields of a class of `_KINDS`, in order."""
    return tuple(field.name for field in fields(_KINDS[kind]))


def _from_tree(tree: Any, arrays: list[Array]) -> Any:
    if isinstance(tree, list):
        return [_from_tree(each, arrays) for each in tree]
    if not isinstance(tree, dict):
        return tree
    ((kind, inside),) = tree.items()
    if kind == "array":
        return arrays[inside]
    if kind == "dict":
        return {name: _from_tree(each, arrays) for name, each in inside.items()}
    return _KINDS[kind](*(_from_tree(each, arrays) for each in inside))


def _arrays(data: bytes, start: int, shapes: list[list[Any]]) -> list[Array]:
    found = []
    for kind, *shape in shapes:
        if kind not in _TYPES or any(size < 0 for size in shape):
            raise NotReadable("an array of an unknown type")
        end = start + 8 * math.prod(shape)
        items = np.frombuffer(_regrouped_back(data[start:end]), kind)
        found.append(items.reshape(shape))
        start = end
    return found


def _regrouped(data: bytes) -> bytes:
    """Return the first bytes of all items, then the second ones, and so on."""
    return np.frombuffer(data, np.uint8).reshape(-1, 8).T.tobytes()


def _regrouped_back(data: bytes) -> bytes:
    return np.frombuffer(data, np.uint8).reshape(8, -1).T.tobytes()
