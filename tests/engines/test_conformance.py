"""What every engine keeps to, whatever its method: one table of engines, each rule once."""

import json
from pathlib import Path
from typing import Any

import pytest

import forebay
from forebay import engines
from forebay.effort import Effort
from forebay.outcome import Outcome, violations
from forebay.scenario import Scenario, loads

LOT = Path(__file__).parents[1] / "topology" / "parking-lot.toml"
LINK = """
link.rate = "20 Mbit/s"
queue.size = "60 packets"
measure = { warmup = "1 s", duration = "2 s" }
traffic = [{ flows = 20, congestion_control = "cubic", rtt = { uniform = ["60 ms", "140 ms"] } }]
"""
COVERED = """
link.rate = "1 Gbit/s"
queue.size = "300 packets"
[[traffic]]
flows = 100
congestion_control = { cubic = 0.6, bbr3 = 0.4 }
rtt = { uniform = ["30 ms", "90 ms"] }
access_rate = "2 Gbit/s"
"""
ASKED: dict[str, Any] = {
    "theory": lambda: loads(LINK, overrides=["traffic.0.congestion_control=reno"]),
    "simulation": lambda: loads(LINK),
    "atlas": lambda: loads(COVERED),
    "network": lambda: forebay.load(LOT),
}
"""A scenario for each; the testbed, which is late on a busy machine, has its rules in its room."""
REFUSED: dict[str, Any] = {
    "theory": lambda: forebay.load(LOT),
    "simulation": lambda: loads(LINK, overrides=["traffic.0.flows=1000000000"]),
    "atlas": lambda: loads(LINK, overrides=["traffic.0.congestion_control=scalable"]),
    "network": lambda: loads(LINK),
}
EACH = pytest.mark.parametrize("name", ASKED)


@pytest.fixture(scope="module")
def answered() -> dict[str, tuple[Scenario, Outcome]]:
    """Return each engine's answer of three seeds."""
    asked = {name: make() for name, make in ASKED.items()}
    return {
        name: (s, engines.get(name).run(s, [3, 1, 7], Effort(jobs=1))) for name, s in asked.items()
    }


def digits(outcome: Outcome) -> dict[str, Any]:
    """Return all of it but how long it took."""
    told = outcome.to_dict()
    told["provenance"] = {k: v for k, v in told["provenance"].items() if not k.endswith("_s")}
    return told


def test_every_engine_of_ours_has_its_row():
    assert set(ASKED) == set(REFUSED) == set(engines.engine_names()) - {"testbed"}


@EACH
def test_it_has_its_name_and_says_what_it_was_asked_and_leaves_it_as_it_was(name, answered):
    scenario, outcome = answered[name]
    assert scenario.sha256() == ASKED[name]().sha256()
    assert engines.get(name).name == outcome.engine == name
    provenance = outcome.provenance
    assert provenance.version == forebay.__version__
    assert provenance.scenario_sha256 == scenario.sha256()
    assert provenance.wall_s >= 0.0
    assert {each.kind for each in outcome.classes} == {each.kind for each in scenario.traffic}


@EACH
def test_its_answer_is_possible_and_a_document_that_is_read_back(name, answered):
    _, outcome = answered[name]
    assert violations(outcome) == []
    assert outcome.links
    assert Outcome.from_dict(json.loads(json.dumps(outcome.to_dict()))) == outcome


@EACH
def test_it_gives_the_same_digits_on_any_number_of_threads(name, answered):
    scenario, outcome = answered[name]
    again = engines.get(name).run(scenario, [3, 1, 7], Effort(jobs=2))
    assert digits(again) == digits(outcome)


@EACH
def test_its_progress_never_falls_and_an_interrupt_in_it_passes(name, answered):
    scenario, _ = answered[name]
    seen: list[float] = []
    engines.get(name).run(scenario, [1], Effort(jobs=1, progress=seen.append))
    assert seen == sorted(seen) and all(0.0 <= share <= 1.0 for share in seen)

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    if seen:
        with pytest.raises(KeyboardInterrupt):
            engines.get(name).run(scenario, [1], Effort(jobs=1, progress=interrupt))


@EACH
def test_what_it_cannot_answer_is_refused_in_one_line(name):
    with pytest.raises(forebay.ForebayError) as refused:
        engines.get(name).run(REFUSED[name](), [1])
    assert "\n" not in str(refused.value) and refused.value.exit_status in (2, 3)
