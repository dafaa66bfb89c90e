"""Every field of a table at its least and its most, one beyond, at 0, and of the wrong type."""

import math
from collections.abc import Iterator
from copy import deepcopy
from itertools import chain, islice
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from forebay.scenario import DataSize, Duration, Rate
from forebay.scenario.base import Between

Tree = dict[str, Any]
WRONG: tuple[Any, ...] = (
    None, True, "", "x", "\ud800", "1 parsec", 0, -1, 1, 10**400, 1e308, -0.0, math.inf, math.nan,
    [], [[]], {}, {"x": {"x": 1}}, ["x", 1], [0.5, 0.5], b"1", "9" * 400 + " s", "1e400 bit/s",
    "0 packets", "1e-400 B",
)  # fmt: skip
"""What may stand for any value, and hardly ever fits."""
_UNITS = {Rate: "bit/s", Duration: "s", DataSize: "B"}
_AMOUNTS = ("0", "1e-12", "1e-3", "86400", "86401", "1e13", "1e14", "-1")


def edges(info: FieldInfo) -> Iterator[Any]:
    """Yield what a field may just be, what it may just not be, and what has another type."""
    kinds = list(_kinds(info.annotation))
    for between in chain(_betweens(info.metadata), *(_betweens(told) for _, told in kinds)):
        for end, beyond in ((between.least, 1.0), (between.most, -1.0)):
            yield from _around(end, beyond)
    for kind, _ in kinds:
        unit = _UNITS.get(kind)
        yield from () if unit is None else (f"{amount} {unit}" for amount in _AMOUNTS)
        yield from get_args(kind) if get_origin(kind) is Literal else ()
    yield from WRONG


def _around(end: Any, beyond: float) -> Iterator[Any]:
    yield end if type(end) in (int, float) else str(end)
    if isinstance(end, int):
        yield type(end)(end - int(beyond)) if type(end) is int else f"{int(end) - int(beyond)} B"
        return
    step = max(abs(float(end)) * 1e-9, 1e-12)
    for number in (float(end) - beyond * step, float(end) - beyond):
        unit = _UNITS.get(type(end), "")
        yield f"{number!r} {unit}" if unit else number


def _betweens(told: Any) -> list[Between]:
    return [each for each in told if isinstance(each, Between)]


def _kinds(annotation: Any, told: tuple[Any, ...] = ()) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield the types within a type, and what is told of each."""
    if get_origin(annotation) is Annotated:
        kind, *more = get_args(annotation)
        yield from _kinds(kind, (*told, *more))
    elif get_origin(annotation) is Literal or not get_args(annotation):
        yield annotation, told
    else:
        for part in get_args(annotation):
            yield from _kinds(part, told)


def at(tree: Tree, path: str) -> Any:
    """Return what stands at a dotted path."""
    here: Any = tree
    for part in path.split(".") if path else []:
        here = here[int(part)] if isinstance(here, list) else here[part]
    return here


def with_edges(tree: Tree, path: str, model: type[BaseModel]) -> Iterator[tuple[str, Any, Tree]]:
    """Yield the tree with each field of the table at a path at each of its edges."""
    for name, info in model.model_fields.items():
        for value in edges(info):
            made = deepcopy(tree)
            at(made, path)[name] = value
            yield f"{path}.{name}".lstrip("."), value, made


def sampled(cases: Iterator[Any], every: int) -> Iterator[Any]:
    """Yield every so many of the cases, from the first on."""
    return islice(cases, 0, None, every)
