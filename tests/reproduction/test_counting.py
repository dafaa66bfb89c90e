"""Rows are counted apart by what they hold against what; what cannot fail has no verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forebay.outcome import Metric
from forebay.reproduction import (
    FORMULA,
    KERNEL,
    OURS,
    SIMULATION,
    CachedResult,
    Check,
    Reproduction,
    Variants,
    count,
    from_document,
    in_words,
    judge,
    print_reproduction,
    side_by_side,
)

CLAIMS = """
[[claim]]
name = "busy"
says = "the link is busy"
where = "1"
unit = "%"
published = 99
at_least = 98
because = "printed whole"
if_never_idle = 100
[[claim]]
name = "idle"
says = "half of it leaves it idle"
where = "1"
unit = "%"
at_most = 98
because = "direction"
if_never_idle = 100
[[claim]]
name = "set"
says = "the ring"
where = "2"
unit = "packets"
published = 43
because = "64 kB"
cannot_fail = "the scenario sets it"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "claims.toml").write_text(CLAIMS)
    return tmp_path


def made(folder: Path, **more: Any) -> Reproduction:
    ours = {"busy": 99.0, "idle": 99.0, "set": 43}
    return judge("Z.fig1", "Paper Z", folder, ours, testbed={"busy": 97.0}, **more)


def test_each_comparison_counts_in_its_own_kind(folder: Path) -> None:
    simulated, kernel = count([made(folder)])
    assert (simulated.kind, simulated.rows, simulated.inside) == (SIMULATION, 2, 1)
    assert (simulated.published, simulated.open_to_full, simulated.of_utilization) == (1, 1, 2)
    assert (kernel.kind, kernel.rows, kernel.inside, kernel.published) == (KERNEL, 1, 0, 1)
    said = in_words([simulated, kernel])
    assert said[0] == (
        f"{SIMULATION}: 1 of 2 rows in their band; 1 of the 2 have a number in print"
    )
    assert "2 would also pass with a link that is never idle" in said[-1]


def test_what_cannot_fail_is_shown_and_not_judged(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = made(folder)
    assert len(found.rows) == len(found.verdicts) == 2
    assert found.unjudged == ["the ring (2): 43 packets, printed 43; the scenario sets it"]
    print_reproduction(found)
    shown = " ".join(capsys.readouterr().out.split())
    assert "No verdict: the ring (2): 43 packets" in shown and "0 of 2 rows" in shown


def test_what_a_quick_run_leaves_out_is_named_not_shown(folder: Path) -> None:
    found = made(folder, left_out=("idle",))
    assert [row[0] for row in found.rows] == ["the link is busy"]
    assert "Not tried by a quick run: half of it leaves it idle." in found.notes


def test_a_maker_that_says_nothing_claims_least() -> None:
    found = Reproduction("Z.a", "Z", ["x"], [[1], [2]], ["", "far"])
    assert found.checks == [Check(OURS, True, False), Check(OURS, False, False)]
    with pytest.raises(ValueError, match="no kind of comparison"):
        Reproduction("Z.a", "Z", ["x"], [[1]], [""], checks=[Check("a guess", True, False)])


def test_a_claim_s_own_kind_goes_before_its_artefact_s(tmp_path: Path) -> None:
    (tmp_path / "claims.toml").write_text(CLAIMS + f'[[claim]]\nname="f"\nsays="f"\nwhere="3"\n'
        f'at_least=0\nbecause="x"\nkind="{FORMULA}"\n')  # fmt: skip
    ours = {"busy": 99.0, "idle": 90.0, "set": 43, "f": 1.0}
    kinds = [each.kind for each in judge("Z.b", "Z", tmp_path, ours).checks]
    assert kinds == [SIMULATION, SIMULATION, FORMULA]


def variants(folder: Path) -> Variants:
    metric = Metric(value=98.4, low=98.2, high=98.6, n=3)
    found: dict[str, Any] = {
        "each packet": {"busy": 97.0, "idle": 90.0},
        "delayed": {"busy": metric, "idle": 99.0},
    }
    return side_by_side(folder, found, "The print can have come from delayed ACKs.")


def test_variants_stand_side_by_side_and_the_first_gives_the_verdict(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = variants(folder)
    assert found.columns == ["row", "band", "each packet (verdict)", "delayed"]
    assert found.cells() == [
        ["the link is busy", "at least 98", "97 out", "98.4 ±0.2"],
        ["half of it leaves it idle", "at most 98", "90", "99 out"],
        ["in their band, of 2", "", "1", "1"],
    ]
    print_reproduction(made(folder, variants=found))
    assert "can have come from delayed ACKs" in " ".join(capsys.readouterr().out.split())


def test_large_numbers_are_written_out(folder: Path) -> None:
    found = side_by_side(folder, {"a": {"busy": 10231.4, "idle": 0.0333333}}, "")
    assert [row[2] for row in found.cells()[:2]] == ["10231", "0.03333"]


def test_kept_results_come_back_equal(folder: Path) -> None:
    kept = CachedResult(made(folder, variants=variants(folder)), 5, False, 1.5)
    document = json.loads(json.dumps(kept.to_document()))
    assert from_document(document) == kept
