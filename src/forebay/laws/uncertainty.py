"""Laws with uncertain inputs: intervals and gradients.

The number of flows and their RTT are never known exactly. `interval` takes a law of this package
and ranges of its inputs, and returns the range of its result; `gradient` returns the derivatives by
the inputs. Both call the law once on arrays, for any number of points.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws.arrays import Array, as_array

LawFunction = Callable[..., Any]
"""A function of arrays that broadcasts."""

_STEP = float(np.cbrt(np.finfo(np.float64).eps))  # rounding and truncation errors are equal here


@dataclass(frozen=True, slots=True)
class Box:
    """An input between `low` and `high`, arrays that broadcast."""

    low: ArrayLike
    high: ArrayLike

    def __post_init__(self) -> None:
        if not np.all(as_array(self.low) <= as_array(self.high)):
            bounds = f"Box({self.low!r}, {self.high!r})"
            raise ValueError(f"{bounds}: write the lower bound first, and no NaN")


@dataclass(frozen=True, slots=True)
class LawRange:
    """The range of a law's result."""

    low: Array
    high: Array


def interval(
    law: LawFunction,
    *inputs: ArrayLike | Box,
    monotone: bool = True,
    samples: int = 256,
    **named: Any,
) -> LawRange:
    """Smallest and largest result of `law` over all values of its boxed inputs.

    Parameters
    ----------
    law : called as law(*inputs, **named); positional and named inputs may be a `Box`.
    monotone : whether the law is monotone in each boxed input over the whole box. Then its extremes
        are at corners, and the interval is exact. Buffers and utilizations of the laws of papers A
        and D are monotone in n, RTT, rate and targets.
    samples : if not monotone, the number of evenly distributed, fixed points in the box that are
        evaluated in addition to the corners. The interval may then be too narrow.

    Returns
    -------
    LawRange
        low and high, of the shape of the law's result for inputs without boxes.
    """
    boxes = [b for b in (*inputs, *named.values()) if isinstance(b, Box)]
    depth = max([_depth(x) for x in (*inputs, *named.values())], default=0)
    places = _places(len(boxes), 0 if monotone else samples)
    chosen = iter(_along(box, place, depth) for box, place in zip(boxes, places.T, strict=True))
    values = [next(chosen) if isinstance(x, Box) else x for x in inputs]
    values_by_name = {k: next(chosen) if isinstance(x, Box) else x for k, x in named.items()}
    answers = as_array(law(*values, **values_by_name))
    if not boxes:
        return LawRange(answers, answers)
    return LawRange(answers.min(axis=0), answers.max(axis=0))


def gradient(
    law: LawFunction, *inputs: ArrayLike, with_respect_to: Sequence[int] | None = None, **named: Any
) -> tuple[Array, ...]:
    """Partial derivatives of `law` by its positional inputs, with central differences.

    Parameters
    ----------
    with_respect_to : indices of the inputs; all by default.

    Returns
    -------
    tuple of arrays of the law's shape, one for each of these inputs; precise to about nine digits
    if the law is smooth, and the mean of both sides at a kink.
    """
    values = range(len(inputs)) if with_respect_to is None else with_respect_to
    return tuple(_derivative(law, inputs, place, named) for place in values)


def _derivative(
    law: LawFunction, inputs: Sequence[ArrayLike], place: int, named: dict[str, Any]
) -> Array:
    here = as_array(inputs[place])
    step = _STEP * np.where(here == 0.0, 1.0, np.abs(here))
    below, above = here - step, here + step
    answers = [
        as_array(law(*inputs[:place], x, *inputs[place + 1 :], **named)) for x in (below, above)
    ]
    return (answers[1] - answers[0]) / (above - below)


def _places(boxes: int, samples: int) -> Array:
    """Points in the unit cube, shape (points, boxes): its corners, then points inside."""
    corners = as_array(list(product((0.0, 1.0), repeat=boxes))).reshape(2**boxes, boxes)
    if not samples or not boxes:
        return corners
    # Powers of the root of x^(d+1) = x + 1 give a low-discrepancy sequence (Roberts 2018).
    root = 2.0
    for _ in range(50):
        root = (1.0 + root) ** (1.0 / (boxes + 1))
    steps = root ** -np.arange(1.0, boxes + 1.0)
    return np.concatenate([corners, np.arange(1.0, samples + 1.0)[:, np.newaxis] * steps % 1.0])


def _along(box: Box, place: Array, depth: int) -> Array:
    """Values of a box at `place`, along a new first axis before `depth` others."""
    low, high = as_array(box.low), as_array(box.high)
    low, high = (x.reshape((1,) * (depth - x.ndim) + x.shape) for x in (low, high))
    at = place.reshape((-1,) + (1,) * depth)
    return np.where(at == 1.0, high, low + at * (high - low))


def _depth(value: Any) -> int:
    if isinstance(value, Box):
        return max(np.ndim(value.low), np.ndim(value.high))
    return np.ndim(value) if isinstance(value, np.ndarray | list | tuple | float | int) else 0
