"""An answer as one row of a table, as a number, and as a file."""

import numpy as np
import pytest

import forebay
from forebay import Long, Outcome
from forebay.outcome import DocumentError


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return forebay.run(forebay.load("oc3-gsr"), "theory")


def test_a_row_has_every_number_by_its_place(outcome):
    row, link = outcome.to_row(), outcome.links["bottleneck"]
    assert row["link.bottleneck.buffer_packets"] == link.buffer_packets
    assert row["link.bottleneck.utilization"] == link.utilization.value
    assert row["link.bottleneck.queue_delay_s.p99"] == link.queue_delay_s.p99.value
    assert row["class.long-0.flows"] == 100
    assert "class.long-0.jain" not in row  # no law tells it
    assert all(isinstance(value, int | float) for value in row.values())


def test_a_saved_answer_is_read_back_equal(outcome, tmp_path):
    outcome.save(tmp_path / "outcome.json")
    assert Outcome.load(tmp_path / "outcome.json") == outcome
    assert [path.name for path in tmp_path.iterdir()] == ["outcome.json"]


def test_a_file_that_cannot_be_written_is_named(outcome, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        outcome.save(tmp_path / "none" / "outcome.json")
    assert caught.value.filename == str(tmp_path / "none" / "outcome.json")


def test_numbers_of_numpy_are_numbers():
    flows = np.arange(3, 5)[1]
    limited = Long(flows=flows, max_window=np.int32(9))  # type: ignore[arg-type]
    assert limited == Long(flows=4, max_window=9)
    scenario = forebay.load("oc3-gsr")
    changed = scenario.replace({"traffic.0.flows": flows, "goals.utilization": np.float32(0.5)})
    assert changed.traffic[0].flows == 4 and changed.goals.utilization == 0.5
    with pytest.raises(forebay.ScenarioError, match="not a whole number"):
        Long(flows=np.float64(2.5))  # type: ignore[arg-type]


def test_a_near_miss_of_a_public_name_is_named():
    with pytest.raises(AttributeError) as caught:
        forebay.traces  # type: ignore[attr-defined]  # noqa: B018
    assert caught.value.name == "traces" and caught.value.obj is forebay


@pytest.mark.parametrize("kind", [forebay.SizeResult, forebay.Trace])
def test_another_kind_of_answer_is_refused_by_what_it_lacks(kind, outcome, tmp_path):
    outcome.save(tmp_path / "outcome.json")
    with pytest.raises(DocumentError, match=rf"is no {kind.__name__}: it has no \w+; make one"):
        kind.load(tmp_path / "outcome.json")
