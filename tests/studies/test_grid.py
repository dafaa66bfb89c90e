"""Grids: ranges with units, axes that go together, cells left out, designs, and clear refusals."""

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refused import refused

import forebay
from forebay import engines
from forebay.studies.grid import axis_of, grid_of, load_grid, shipped_grids

BASE = forebay.load("oc3-gsr")


def values(spec: object) -> list:
    return [value for (value,) in axis_of("queue.size", spec, sampled=False).values]


def points(axes: dict, **more) -> list:
    return list(grid_of(BASE, axes, **more).points())


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"log": [100, 400], "points": 3}, [100, 200, 400]),
        ({"linear": [100, 400], "points": 4}, [100, 200, 300, 400]),
        ({"linear": [0.5, 1.5], "points": 3}, [0.5, 1.0, 1.5]),
        ({"log": ["1 ms", "1 s"], "points": 4}, ["1 ms", "10 ms", "100 ms", "1 s"]),
        ({"log": ["10 packets", "1000 packets"], "points": 3},
         ["10 packets", "100 packets", "1000 packets"]),
        ({"linear": ["1 kB", "1 MB"], "points": 3}, ["1 kB", "500500 B", "1 MB"]),
        ({"linear": ["1 bdp/sqrt(n)", "3 bdp/sqrt(n)"], "points": 3},
         ["1 bdp/sqrt(n)", "2 bdp/sqrt(n)", "3 bdp/sqrt(n)"]),
        ({"linear": [1, 3], "points": 5}, [1, 2, 3]),
        ({"linear": ["0 s", "10 s"], "points": 3}, ["0 s", "5 s", "10 s"]),
    ],
)  # fmt: skip
def test_a_range_has_both_ends_and_equal_steps(spec: dict, wanted: list) -> None:
    assert values(spec) == wanted


@given(low=st.floats(1e-3, 1e3), ratio=st.floats(1.5, 1e4), count=st.integers(3, 20))
def test_a_logarithmic_range_of_times_has_equal_ratios(low, ratio, count):
    found = [float(forebay.Duration(v)) for v in
             values({"log": [f"{low!r} s", f"{low * ratio!r} s"], "points": count})]  # fmt: skip
    step = ratio ** (1 / (count - 1))
    assert len(found) == count
    assert all(math.isclose(b / a, step, rel_tol=1e-4) for a, b in pairwise(found))


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("64 packets", "no axis"),
        ([], "empty list"),
        ({"log": [0, 10], "points": 3}, "no 0"),
        ({"log": ["1 ms", "1 MB"], "points": 3}, "two kinds"),
        ({"log": [1, 10]}, "number of points"),
        ({"log": [1, 10], "points": 1}, "from 2"),
        ({"log": [1, 10, 100], "points": 3}, "two ends"),
        ({"log": [1, 10], "linear": [1, 2], "points": 3}, "two ends"),
        ({"log": [1, 10], "point": 3}, 'did you mean "points"'),
        ({"log": [5, 5], "points": 3}, "equal"),
        ({"log": ["1 ms", 5], "points": 3}, "no range"),
        ({"log": ["1 parsec", "2 parsec"], "points": 3}, "not a known unit"),
    ],
)
def test_a_bad_axis_is_refused_in_one_line(spec: object, said: str) -> None:
    with refused(said) as error:
        values(spec)
    assert "queue.size" in str(error.value)


def test_axes_are_combined_in_their_order() -> None:
    axes = {"queue.size": ["1 packets", "2 packets"], "traffic.0.flows": [1, 2]}
    assert points(axes) == [
        ("1 packets", 1), ("1 packets", 2), ("2 packets", 1), ("2 packets", 2)
    ]  # fmt: skip


def test_axes_go_together() -> None:
    axes = {
        "queue.size": ["1 packets", "2 packets"],
        "link.rate": ["1 Mbit/s"],
        "traffic.0.flows": [1, 2],
    }
    found = points(axes, groups=[["queue.size", "traffic.0.flows"]])
    assert found == [("1 packets", 1, "1 Mbit/s"), ("2 packets", 2, "1 Mbit/s")]
    assert points({("queue.size", "traffic.0.flows"): [("1 packets", 1)]}) == [("1 packets", 1)]
    again = {"queue.size": ["9 packets", "9 packets"], "traffic.0.flows": [1, 2]}
    assert len(points(again, groups=[["queue.size", "traffic.0.flows"]])) == 2
    with refused("write as many"):
        points(axes, groups=[["queue.size", "link.rate"]])
    with refused("is no axis"):
        points(axes, groups=[["queue.size", "link.delay"]])


@pytest.mark.parametrize(
    ("axes", "said"),
    [
        ({"queue.size": ["9 packets", "1 bdp", "9 packets"]}, 'queue.size: has "9 packets" twice'),
        ({"measure.duration": ["1 s", "1000 ms"]}, '"1 s" and "1000 ms" are equal'),
        ({"traffic.0.flows": [1, 2, 1.0]}, "1 and 1.0 are equal"),
        ({("queue.size", "traffic.0.flows"): [("9 packets", 1), ("9 packets", 1)]}, "twice"),
    ],
)
def test_a_value_that_an_axis_has_twice_is_refused(axes: dict[Any, Any], said: str) -> None:
    with refused(f"{said}.*write each value once"):
        points(axes)


def test_cells_are_left_out_by_values_bounds_and_functions() -> None:
    axes = {"measure.duration": ["10 ms", "1 s"], "traffic.0.flows": [1, 10, 100]}
    table = {"measure.duration": "1000 ms", "traffic.0.flows": {"above": 1, "at_most": 10}}
    assert ("1 s", 10) not in points(axes, leave_out=[table])
    assert len(points(axes, leave_out=[table])) == 5
    assert len(points(axes, leave_out=[{"traffic.0.flows": [1, 100]}])) == 2
    assert len(points(axes, leave_out=lambda cell: cell["traffic.0.flows"] > 1)) == 2
    with refused("did you mean"):
        points(axes, leave_out=[{"traffic.0.flow": 1}])
    with refused("at_least"):
        points(axes, leave_out=[{"traffic.0.flows": {"over": 1}}])


@pytest.mark.parametrize("kind", ["random", "sobol", "halton", "latin-hypercube"])
def test_a_design_fills_the_space_the_same_way_each_time(kind: str) -> None:
    axes = {"traffic.0.rtt": {"log": ["1 ms", "1 s"]}, "queue.size": ["9 packets", "1 bdp"]}
    design = {"kind": kind, "points": 32, "seed": 3}
    found = points(axes, design=design)
    assert found == points(axes, design=design) != points(axes, design=design | {"seed": 4})
    assert len(found) == 32 and {size for _, size in found} == {"9 packets", "1 bdp"}
    times = [math.log10(float(forebay.Duration(rtt))) for rtt, _ in found]
    assert min(times) >= -3 and max(times) <= 0
    if kind != "random":  # two points in each sixteenth, or about
        assert len({int((t + 3) / 3 * 16) for t in times}) >= 14


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "base: is not written"),
        ('base = "oc3-gsr"', "axes: is not written"),
        ('base = "oc3-gsr"\naxis = 1', 'did you mean "axes"'),
        ('base = "none"\n[axes]\n"queue.size" = ["1 bdp"]', "no such file"),
        ('base = "oc3-gsr"\n[axes]\n"queue.size" = [1]\nqueue.size = [1]', "written twice"),
        ('base = "oc3-gsr"\n[axes', "not TOML"),
        ('base = "oc3-gsr"\ndesign = { kind = "so" }\n[axes]\nqueue.size = ["1 bdp"]', "one of"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "grid.toml"
    path.write_text(text)
    with refused(said):
        load_grid(path)


def test_a_base_is_found_beside_its_grid(tmp_path: Path) -> None:
    BASE.save(tmp_path / "mine.toml")
    (tmp_path / "grid.toml").write_text('base = "mine.toml"\n[axes]\nqueue.size = ["7 packets"]\n')
    found = load_grid(tmp_path / "grid.toml", ["traffic.0.flows=9"])
    assert list(found.grid.points()) == [("7 packets",)]
    assert found.grid.base.traffic[0].flows == 9


@pytest.mark.parametrize("name", shipped_grids())
def test_shipped_grids_are_read(name: str) -> None:
    assert len(list(load_grid(name).grid.points())) > 1


def test_a_price_is_computed_once_for_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    from forebay.studies.plan import Asked, Plan, plan_of

    grid = grid_of(BASE, {"traffic.0.flows": [10, 20]})
    asked = Asked("run", "simulation", "code")
    plan = plan_of(grid, [(asked, engines.get("simulation"))], range(1, 3))
    calls: list[object] = []
    priced = Plan._price_s

    def counted(plan: Plan, asked: Asked, scenario: forebay.Scenario) -> float:
        calls.append(scenario)
        return priced(plan, asked, scenario)

    monkeypatch.setattr(Plan, "_price_s", counted)
    prices = [plan.price_s(asked, cell) for cell in (*plan.cells, *plan.cells)]
    assert prices[:2] == prices[2:]
    assert prices[1] >= prices[0] > 0.0
    assert len(calls) == 2


def test_a_grid_of_more_cells_than_any_machine_runs_is_refused_at_once() -> None:
    """9^30 cells of fields that exist, and of some that do not: none is enumerated."""
    traffic = [forebay.Long(flows=2)] * 30
    several = forebay.Scenario(link=forebay.Link(rate="155 Mbit/s"), traffic=traffic)
    nine: dict[str, Any] = {f"traffic.{n}.flows": list(range(1, 10)) for n in range(30)}
    with refused(r"4\.239e\+28 combinations of values"):
        grid_of(several, nine)
    with refused("there is no such key"):
        grid_of(several, {f"traffic.{n}.flow": of for n, of in enumerate(nine.values())})
    with refused("combinations of values"):
        grid_of(several, nine, leave_out=[{"traffic.0.flows": 3}])
