"""A reproduction is read back from its document as it was."""

import json

import numpy as np

from forebay.outcome import Metric
from forebay.report import Line, Panel, Picture
from forebay.reproduction import CachedResult, Reproduction, from_document


def test_back_from_json_equal() -> None:
    metric = Metric(value=1.5, low=1.0, high=None, n=3)
    bounds = ((2.5, 3.5), (4.0, 4.5))
    lines = [Line([1, 2], [3.0, 4.0], "a", "dots"), Line([1, 2], [3.0, 4.0], y_bounds=bounds)]
    picture = Picture([Panel(lines, "x", "y", "t")], 2)
    made = Reproduction(
        "Z.tab1", "Table 1", ["a", "b", "c"], [["r", metric, None]], ["far"],
        notes=["n"], labels=2, drawn=("b",), unit="%", units=["ms"], picture=picture,
    )  # fmt: skip
    kept = CachedResult(made, seeds=4, quick=True, wall_s=1.25)
    assert from_document(json.loads(json.dumps(kept.to_document()))) == kept


def test_a_number_of_numpy_becomes_python_s() -> None:
    made = Reproduction("Z.a", "t", ["a"], [[np.float64(0.5)]], [""])
    assert json.dumps(CachedResult(made, 1, False, 0.0).to_document())
