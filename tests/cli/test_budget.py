"""A budget on the command line."""

import json

import pytest

from forebay.store import Store


@pytest.mark.parametrize(("control", "named"), [("cubic", True), ("bbr3", False)])
def test_a_refusal_names_theory_only_if_a_law_answers(forebay_, tmp_path, control, named):
    few = tmp_path / "few.toml"
    few.write_text(
        f'[link]\nrate = "400 Gbit/s"\n[[traffic]]\nflows = 20\ncongestion_control = "{control}"\n'
        'rtt = { uniform = ["10 ms", "90 ms"] }\n[goals]\nutilization = 0.98\n'
    )
    result = forebay_("run", str(few), "--budget", "0.1 s")
    assert result.status == 3
    assert ("--engine theory" in result.err) == named
    assert forebay_("run", str(few), "--engine", "theory").status == (0 if named else 3)


def test_an_answer_says_what_it_cost_and_what_is_scaled(forebay_, link, scenario):
    answer = json.loads(forebay_("size", scenario, "--json").out)
    assert answer["scaled"] is None
    assert answer["cost"].keys() == {"predicted_s", "spent_s", "budget_s"}
    assert answer["cost"]["budget_s"] == 60.0
    run = json.loads(forebay_("run", scenario, "--budget", "1 min", "--json").out)
    assert run["provenance"]["cost"]["budget_s"] == 60.0
    assert "cost" not in json.loads(forebay_("run", scenario, "--json").out)["provenance"]


def test_a_stopped_climb_says_what_is_stored_and_how_to_go_on(forebay_, link, tmp_path):
    large = tmp_path / "large.toml"
    large.write_text(
        '[link]\nrate = "400 Gbit/s"\n[[traffic]]\nflows = 200000\n'
        'rtt = { uniform = ["10 ms", "90 ms"] }\n[goals]\nutilization = 0.99\n'
    )
    for store in ([], ["--store", str(tmp_path / "s")]):
        link.stop_after = 5
        result = forebay_("size", str(large), *store)
        assert result.status == 130, result.err
        assert "a new start reuses only what a store holds" in result.err
    with Store(tmp_path / "s") as kept:
        assert kept.count > 0
