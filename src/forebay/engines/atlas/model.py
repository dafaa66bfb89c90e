"""The model of a family: a Gaussian process a metric over features shaped by the laws.

A prediction is a sum over the simulated links, in NumPy alone; metrics are kept where they are
smooth (`to_smooth`). Intervals are conformal (Lei et al. 2018, doi:10.1080/01621459.2017.1307116,
section 2 and 5.2): the error of each cell under a model that has not seen its link, over the usual
error of its neighbours, has a quantile that the next link's error is below as often as it says.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.engines.atlas.scope import Point, file_of
from forebay.engines.errors import EngineUnavailable

Array = NDArray[np.float64]
REMAKE = "benches/atlas_design.py and benches/atlas_model.py"
METRICS = ("idle", "loss", "queue_mean", "queue_p99", "delay_mean", "delay_p99", "share")
"""What is modelled. Queues are parts of the buffer, delays parts of its time at line rate."""
_LEAST = {"idle": 1e-3, "loss": 1e-5, "share": 1e-3}
_LEAST_PART = 1e-2
"""What is added to a metric, and to its rest, before logarithms: smaller values are alike."""
_AUTOSIZE_S, _BURST = 1e-3, (2.0, 44.0)
"""A host with offload sends what its rate has in so long at once, within these packets."""
_PROBE_S = 0.2
"""ProbeRTT of BBR lasts so long, and a round trip."""


def features(points: list[Point]) -> Array:
    """Return the features, shape (points, features): logs, which the laws combine linearly.

    Beside the logs of what a buffer is compared with stand ratios that end at 1, as a buffer acts
    in one way while it is small, and in another from some bursts or round trips on.
    """
    return np.array([_features(point) for point in points], dtype=np.float64)


def _features(point: Point) -> tuple[float, ...]:
    n, share, size = float(point.flows), point.second / point.flows, float(point.packets)
    burst = min(max(_AUTOSIZE_S * point.window / point.rtt_s, _BURST[0]), _BURST[1])
    of_root = size * math.sqrt(n) / point.bdp  # B sqrt(n) / BDP
    return (
        math.log(n),
        math.log(point.window),  # the loss of 0.76 / w^2
        math.log(point.rtt_s),
        (point.spread - 1.0) / (point.spread + 1.0),
        math.log(math.log(point.spread)),
        math.log(point.access),
        share,
        math.sqrt(share),
        math.log1p(point.second),
        float(point.second == 0),
        float(point.second == point.flows),
        math.log(size),
        math.log(size / point.bdp),
        math.log(of_root),
        # While a burst comes over the access link, this link sends on.
        math.log(size / (1.0 + burst * point.access / (1.0 + point.access))),
        math.log(burst),
        math.log(size / (burst * math.sqrt(n))),
        size / (size + 8.0 * burst),
        of_root / (of_root + 1.0),
        size / (size + point.bdp),
        point.rtt_s / (point.rtt_s + _PROBE_S),
        size**-0.5,
    )


def to_smooth(name: str, values: Array, flows_share: Array) -> Array:
    """Return a metric where it is smooth; NaN where it is not defined."""
    least = _LEAST.get(name, _LEAST_PART)
    if name == "loss":
        return np.asarray(np.log(values + least))
    if name == "share":
        mixed = (flows_share > 0.0) & (flows_share < 1.0)
        return np.where(mixed, _log_odds(values, least) - _log_odds(flows_share, least), np.nan)
    return _log_odds(values, least)


def from_smooth(name: str, smooth: Array, flows_share: Array) -> Array:
    """Return the inverse of `to_smooth`, within 0 and 1."""
    least = _LEAST.get(name, _LEAST_PART)
    if name == "loss":
        return np.asarray(np.clip(np.exp(smooth) - least, 0.0, 1.0))
    odds = np.exp(smooth + (_log_odds(flows_share, least) if name == "share" else 0.0))
    return np.asarray(np.clip((odds * (1.0 + least) - least) / (1.0 + odds), 0.0, 1.0))


def _log_odds(values: Array, least: float) -> Array:
    return np.asarray(np.log((values + least) / (1.0 - values + least)))


def kernel(distance: Array) -> Array:
    """Return Matern's covariance with 5/2 of a scaled distance (Rasmussen and Williams, 4.17)."""
    far = math.sqrt(5.0) * distance
    return np.asarray((1.0 + far + far * far / 3.0) * np.exp(-far))


def distances(a: Array, b: Array) -> Array:
    """Return Euclidean distances, shape (rows of a, rows of b)."""
    squares = (a * a).sum(1)[:, None] + (b * b).sum(1)[None, :] - 2.0 * (a @ b.T)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


@dataclass(frozen=True)
class Process:
    """The model of one metric.

    Attributes
    ----------
    scale : what features are multiplied with, shape (features,).
    trend : weights of the features and of 1, in this order, shape (features + 1,).
    weights : of the kernel at each cell, shape (cells,).
    errors : absolute error at each cell under a model without its link; NaN where none is known.
    scores : those errors over the usual error around, sorted, shape (cells known,).
    """

    scale: Array
    trend: Array
    weights: Array
    errors: Array
    scores: Array

    def predict(self, scaled: Array, x: Array) -> tuple[Array, Array]:
        """Return what is predicted and the usual error around, both of shape (points,).

        Parameters
        ----------
        scaled : the cells' features times `scale`, shape (cells, features).
        x : features, shape (points, features).
        """
        apart = distances(x * self.scale, scaled)
        value = kernel(apart) @ self.weights + x @ self.trend[:-1] + self.trend[-1]
        return value, usual(apart, self.errors)

    def factor(self, level: float) -> float:
        """Return how many usual errors the interval of a level has on each side."""
        at = math.ceil(level * (self.scores.size + 1)) - 1
        return float(self.scores[min(at, self.scores.size - 1)])


_NEIGHBOURHOOD, _LEAST_ERROR = 0.5, 0.02
"""How far neighbours are whose errors count, in lengths of the kernel; least usual error."""


def usual(apart: Array, errors: Array) -> Array:
    """Return the mean error of the neighbours, shape (rows of apart,), never quite none."""
    known = ~np.isnan(errors)
    near = apart[:, known]
    near = near - near.min(axis=1, keepdims=True)
    weight = np.exp(-0.5 * (near / _NEIGHBOURHOOD) ** 2)
    return np.asarray(weight @ errors[known] / weight.sum(1) + _LEAST_ERROR)


@dataclass(frozen=True)
class Model:
    """A family's model.

    Attributes
    ----------
    cells : features of the cells, shape (cells, features).
    processes : by metric.
    stamp : what it was made from (docs/reference/atlas.md).
    """

    cells: Array
    processes: Mapping[str, Process]
    stamp: Mapping[str, Any]

    @cached_property
    def _scaled(self) -> dict[str, Array]:
        return {name: self.cells * process.scale for name, process in self.processes.items()}

    def answer(
        self, points: list[Point], level: float = 0.95
    ) -> dict[str, tuple[Array, Array, Array]]:
        """Return value, low and high of each metric, shape (points,); NaN where not defined."""
        x = features(points)
        shares = np.array([point.second / point.flows for point in points])
        answers = {}
        for name, process in self.processes.items():
            value, error = process.predict(self._scaled[name], x)
            half = process.factor(level) * error
            ends = [from_smooth(name, v, shares) for v in (value, value - half, value + half)]
            if name == "share":
                mixed = (shares > 0.0) & (shares < 1.0)
                ends = [np.where(mixed, end, np.nan) for end in ends]
            answers[name] = (ends[0], ends[1], ends[2])
        return answers


@cache
def is_stale() -> bool:
    """Whether the simulator no longer gives the digits that the models are from."""
    text = files(__package__).joinpath("models", "canaries.json").read_text("utf-8")
    return not json.loads(text)["holds"]


@cache
def load(controls: tuple[str, str]) -> Model:
    """Return a family's model; read once.

    Raises EngineUnavailable: the simulator has changed since.
    """
    if is_stale():
        raise EngineUnavailable("engine-unavailable.stale-atlas", engine="atlas", remake=REMAKE)
    with file_of(controls).open("rb") as file:
        return read(file)


def read(file: Any) -> Model:
    """Return the model in a file that `numpy.savez_compressed` wrote of `document`."""
    with np.load(file, allow_pickle=False) as arrays:
        kept = {name: arrays[name] for name in arrays.files}
    stamp = json.loads(bytes(kept.pop("stamp")).decode())
    processes = {
        name: Process(*(kept[f"{name}.{part}"].astype(np.float64) for part in _PARTS))
        for name in METRICS
        if f"{name}.scale" in kept
    }
    return Model(kept["cells"].astype(np.float64), processes, stamp)


_PARTS = ("scale", "trend", "weights", "errors", "scores")


def document(model: Model) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model's file, single precision where that is enough."""
    arrays: dict[str, NDArray[Any]] = {"cells": model.cells.astype(np.float32)}
    for name, process in model.processes.items():
        for part in _PARTS:
            kind = np.float64 if part in ("weights", "trend") else np.float32
            arrays[f"{name}.{part}"] = getattr(process, part).astype(kind)
    arrays["stamp"] = np.frombuffer(json.dumps(model.stamp, sort_keys=True).encode(), np.uint8)
    return arrays
