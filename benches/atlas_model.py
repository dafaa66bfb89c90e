"""Fit the atlas to the cells that atlas_design.py ran, and write the model file.

    .venv/bin/python benches/atlas_model.py cubic+bbr3 FOLDER

Each metric gets a Gaussian process whose lengths maximize the likelihood (Rasmussen and Williams
2006, eq. 5.8 and 5.9). Then the links are cut into ten parts; each part's errors are those of the
weights that the other nine give, and intervals are made of them. Prints the median error a metric.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from atlas_design import base
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky
from scipy.optimize import minimize

import forebay
from forebay.engines.atlas import model, scope

Array = NDArray[np.float64]
MODELS = Path(__file__).parents[1] / "src/forebay/engines/atlas/models"
_PARTS, _AT_MOST = 10, 700
"""Parts of the links; cells on which the likelihood is evaluated."""
_RIDGE = 1e-3
"""Of the trend, whose features are collinear."""


def rows(family: str, folder: Path) -> tuple[list[scope.Point], dict[str, Array]]:
    """Return the cells that ran as points, and their metrics, shape (cells,)."""
    points: list[scope.Point] = []
    seen: dict[str, list[float]] = {name: [] for name in model.METRICS}
    link, second = "link.bottleneck", family.split("+")[1]
    for row in _tables(family, folder):
        point = _point(base().replace({name: read(row[name]) for name in FIELDS}), family)
        time_s = point.packets / point.pps
        points.append(point)
        seen["idle"].append(1.0 - float(row[f"{link}.utilization"]))
        seen["loss"].append(float(row[f"{link}.loss_rate"]))
        for part in ("mean", "p99"):
            seen[f"queue_{part}"].append(float(row[f"{link}.queue_packets.{part}"]) / point.packets)
            seen[f"delay_{part}"].append(float(row[f"{link}.queue_delay_s.{part}"]) / time_s)
        name = f"class.long-0.controllers.{second}.goodput_share"
        seen["share"].append(float(row.get(name) or math.nan))
    return points, {name: np.array(values) for name, values in seen.items()}


def _tables(family: str, folder: Path) -> Iterator[dict[str, str]]:
    for table in sorted(folder.glob(f"{family}-??.csv")):
        with table.open(encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file)


FIELDS = ("link.rate", "traffic.0.flows", "traffic.0.congestion_control", "traffic.0.rtt",
          "traffic.0.access_rate", "measure.warmup", "measure.duration", "queue.size")  # fmt: skip


def read(text: str) -> object:
    """Return a value of a table: a number, a table in JSON, or text with a unit."""
    return json.loads(text) if text[0] == "{" or text.isdigit() else text


def _point(scenario: forebay.Scenario, family: str) -> scope.Point:
    """Return a cell as a point of its own family, which may have no model yet."""
    first, second = family.split("+")
    return scope.point_of(scenario, (first, second))


def fit(points: list[scope.Point], seen: dict[str, Array], stamp: dict[str, Any]) -> model.Model:
    """Return the model of cells, with its errors."""
    cells = model.features(points)
    shares = np.array([each.second / each.flows for each in points])
    processes = {
        name: process(cells, model.to_smooth(name, values, shares)) for name, values in seen.items()
    }
    return model.Model(cells, processes, stamp)


def process(cells: Array, y: Array) -> model.Process:
    """Return the process of one metric; cells where it is NaN have no weight."""
    known = np.flatnonzero(~np.isnan(y))
    x, y = cells[known], y[known]
    scale, signal, noise = _lengths(x, y)
    weights, trend = _solve(x, y, scale, signal, noise)
    made = model.Process(scale, trend, _spread(weights, known, cells), np.array([]), np.array([]))
    parts = np.arange(known.size) % _PARTS
    errors = np.empty(known.size)
    for part in range(_PARTS):
        seen, left = parts != part, parts == part
        w, t = _solve(x[seen], y[seen], scale, signal, noise)
        far = model.distances(x[left] * scale, x[seen] * scale)
        errors[left] = np.abs(y[left] - model.kernel(far) @ w - x[left] @ t[:-1] - t[-1])
    usual = np.empty(known.size)
    for part in range(_PARTS):
        seen, left = parts != part, parts == part
        usual[left] = model.usual(model.distances(x[left] * scale, x[seen] * scale), errors[seen])
    placed = np.full(len(cells), np.nan)
    placed[known] = errors
    return replace(made, errors=placed, scores=np.sort(errors / usual))


def _spread(weights: Array, known: NDArray[np.intp], cells: Array) -> Array:
    found = np.zeros(len(cells))
    found[known] = weights
    return found


def _trend(x: Array, y: Array) -> Array:
    """Return the ridge regression on the features and 1."""
    wide = np.column_stack([x, np.ones(len(x))])
    penalty = _RIDGE * len(x) * np.diag([*x.var(axis=0) + 1e-6, 0.0])
    return np.asarray(np.linalg.solve(wide.T @ wide + penalty, wide.T @ y))


def _solve(x: Array, y: Array, scale: Array, signal: float, noise: float) -> tuple[Array, Array]:
    """Return the kernel's weights and the trend."""
    trend = _trend(x, y)
    rest = y - x @ trend[:-1] - trend[-1]
    covariance = signal * model.kernel(model.distances(x * scale, x * scale))
    covariance[np.diag_indices_from(covariance)] += noise
    lower = cholesky(covariance, lower=True)
    return signal * cho_solve((lower, True), rest), trend


def _lengths(x: Array, y: Array) -> tuple[Array, float, float]:
    """Return the scale of each feature, the variance of the signal and that of the noise."""
    if len(x) > _AT_MOST:
        some = np.random.default_rng(1).permutation(len(x))[:_AT_MOST]
        x, y = x[some], y[some]
    trend = _trend(x, y)
    rest = y - x @ trend[:-1] - trend[-1]
    spread = x.std(axis=0) + 1e-9
    z = x / spread
    squares = np.stack([(column[:, None] - column[None, :]) ** 2 for column in z.T])
    start = np.concatenate([np.full(x.shape[1], math.log(0.3)), [math.log(rest.var()), 0.0]])
    start[-1] = start[-2] - 2.0
    bounds = [(-7.0, 2.5)] * x.shape[1] + [(-8.0, 6.0), (-10.0, 4.0)]
    best = minimize(_evidence, start, (squares, rest), "L-BFGS-B", True, bounds=bounds,
                    options={"maxiter": 80})  # fmt: skip
    return np.exp(best.x[:-2]) / spread, math.exp(best.x[-2]), math.exp(best.x[-1])


def _evidence(theta: Array, squares: Array, y: Array) -> tuple[float, Array]:
    """Return the negative log likelihood and its gradient, with a weak prior on short lengths."""
    inverse, signal, noise = np.exp(2.0 * theta[:-2]), math.exp(theta[-2]), math.exp(theta[-1])
    far = math.sqrt(5.0) * np.sqrt(np.tensordot(inverse, squares, 1))
    decay = np.exp(-far)
    shape = (1.0 + far + far * far / 3.0) * decay
    covariance = signal * shape
    covariance[np.diag_indices_from(covariance)] += noise
    try:
        lower = cholesky(covariance, lower=True)
    except np.linalg.LinAlgError:
        return 1e12, np.zeros_like(theta)
    weights = cho_solve((lower, True), y)
    inverted = cho_solve((lower, True), np.eye(len(y)))
    middle = np.outer(weights, weights) - inverted
    slope = middle * (-signal * 5.0 / 3.0 * (1.0 + far) * decay)
    gradient = np.array([
        *(0.5 * inverse[k] * float((slope * squares[k]).sum()) for k in range(len(inverse))),
        0.5 * signal * float((middle * shape).sum()), 0.5 * noise * float(np.trace(middle)),
    ])  # fmt: skip
    value = 0.5 * float(y @ weights) + float(np.log(np.diag(lower)).sum())
    prior = 0.5 * float((np.exp(theta[:-2])).sum())
    return value + prior, -gradient + np.append(0.5 * np.exp(theta[:-2]), [0.0, 0.0])


class Fitted:
    """A model of the stages so far, for the design of the next."""

    def __init__(self, family: str, made: model.Model) -> None:
        self.family, self.model = family, made

    def packets_at(self, scenario: forebay.Scenario, idle: float) -> float:
        """Return the least buffer with an idle share, packets; an end of the range if none has."""
        point = _point(scenario.with_buffer(scope.SMALLEST), self.family)
        top = max(12.0, scope.LARGEST_BDP * point.bdp)
        sizes = np.unique(np.round(np.geomspace(scope.SMALLEST, top, 60)).astype(int))
        used = self.model.answer([point.with_packets(int(each)) for each in sizes])["idle"][0]
        below = np.flatnonzero(used <= idle)
        return float(sizes[below[0]] if below.size else sizes[-1])


def fitted(family: str, folder: Path) -> Fitted:
    """Return the model of what has run, of its idle share alone."""
    points, seen = rows(family, folder)
    return Fitted(family, fit(points, {"idle": seen["idle"]}, {}))


def main() -> None:
    """Fit a family and write its file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("family")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--try", dest="trial", action="store_true", help="print the errors alone")
    given = parser.parse_args()
    points, seen = rows(given.family, given.folder)
    made = fit(points, seen, {"family": given.family, "cells": len(points)})
    for name, each in made.processes.items():
        errors = each.errors[~np.isnan(each.errors)]
        middle, most = np.quantile(errors, (0.5, 0.9))
        print(f"{name:10} {errors.size} cells, error {middle:.3f} at the median, {most:.3f} at the "
              f"ninetieth; x {each.factor(0.9):.2f}")  # fmt: skip
    if not given.trial:
        file = io.BytesIO()
        np.savez_compressed(file, **model.document(made))
        target = MODELS / f"{given.family.replace('+', '-')}.npz"
        target.write_bytes(file.getvalue())
        print(f"{target.name}: {len(file.getvalue()) / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
