"""Scenarios changed, saved and shown in Python."""

from pathlib import Path

import pytest

from forebay.errors import ForebayError
from forebay.scenario import Link, Long, Replay, ScenarioError, load, loads

from .build import SMALLEST

FOLDER = Path(__file__).parents[2] / "scenarios"
SCENARIO = loads(SMALLEST)


@pytest.mark.parametrize(
    ("changes", "overrides"),
    [
        ({"queue.size": "64 packets"}, ["queue.size=64 packets"]),
        ({"traffic.0.flows": 200, "name": "x"}, ["traffic.0.flows=200", "name=x"]),
        ({"traffic.0.rtt": {"uniform": ["1 ms", "3 ms"]}, "traffic.0.rtt.uniform.1": "2 ms"},
         ['traffic.0.rtt={uniform=["1 ms","2 ms"]}']),
        ({"link": Link(rate="1 Gbit/s")}, ["link.rate=1 Gbit/s"]),
        ({"traffic": [Long(flows=7)]}, ["traffic.0.flows=7"]),
        ({"goals.utilization": 0.9, "goals": {}}, []),
        ({"goals.utilization": 0.9, "goals": None}, []),
        ({"traffic": [Long(flows=1)] * 3, "traffic.0": None, "traffic.2.flows": 7,
          "traffic.1": None}, ["traffic.0.flows=7"]),
        ({"traffic.0": Long(flows=1), "traffic.0.flows": 7}, ["traffic.0.flows=7"]),
    ],
)  # fmt: skip
def test_replace_means_what_set_means(changes: dict[str, object], overrides: list[str]) -> None:
    changed = SCENARIO.replace(changes)
    assert changed == loads(SMALLEST, overrides=overrides)
    assert loads(SMALLEST) == SCENARIO


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"traffic.1.flows": 2}, "traffic.1", "write traffic.0"),
        ({"link.rate.x": 3}, "link.rate.x", 'write {"link.rate": VALUE}'),
        ({"trafic.0.flows": 2}, "trafic", 'write "traffic"'),
        ({"": 1}, "", 'such as "queue.size"'),
        ({"traffic.0.flows": "10k"}, "traffic.0.flows", "write 10000"),
        ({"goals.queue_delay_p99": "1 ms", "goals.queue_delay_mean": "2 ms"},
         "goals.queue_delay_p99", "contradict"),
        ({"traffic.0.direction": "reverse"}, "traffic", 'write direction="forward"'),
    ],
)  # fmt: skip
def test_what_cannot_be_replaced(changes: dict[str, object], field: str, said: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        SCENARIO.replace(changes)
    assert caught.value.field == field
    assert said in str(caught.value) and "--set" not in str(caught.value)


def test_what_is_removed_is_as_if_never_written() -> None:
    written = SCENARIO.replace({"name": "x", "queue.size": "9 kB", "measure.duration": "9 s"})
    removed = written.replace({"name": None, "queue.size": None, "measure.duration": None})
    without = {"queue": {}, "measure": {"warmup": written.measure.warmup}, "name": "unnamed"}
    assert removed == written.replace(without)
    with pytest.raises(ScenarioError, match=r"queue\.sise: there is no such key"):
        SCENARIO.replace({"queue.sise": None})
    with pytest.raises(ScenarioError, match="link: is missing"):
        SCENARIO.replace({"link": None})


def test_a_dict_that_is_given_stays_as_it_is() -> None:
    queue = {"size": "3 packets"}
    assert SCENARIO.replace({"queue": queue, "queue.size": "9 packets"}).buffer_packets == 9
    assert queue == {"size": "3 packets"}


def test_all_rates_of_a_slower_link_are_divided() -> None:
    def link(rate: str, of_shaper: str) -> Link:
        shaper = {"rate": of_shaper, "burst": "30 kB"}
        return Link.model_validate({"rate": rate, "shaper": shaper})

    assert link("70 Mbit/s", "35 Mbit/s").slower(7.0) == link("10 Mbit/s", "5 Mbit/s")
    steps = [["0 s", "70 Mbit/s"], ["1 s", "7 Mbit/s"]]
    varying = Link.model_validate({"rate_trace": {"steps": steps, "period": "3 s"}}).slower(7.0)
    assert varying.rates and [float(rate) for _, rate in varying.rates.rates] == [1e7, 1e6]


def test_a_saved_scenario_finds_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "film.csv").write_text("0,1500\n0.1,1500\n")
    monkeypatch.chdir(tmp_path)
    scenario = SCENARIO.replace({"traffic": [Long(flows=1), Replay(flows=1, file="film.csv")]})
    scenario.save(tmp_path / "a" / "x.toml")
    assert load("a/x.toml") == scenario
    assert 'file = "../film.csv"' in (tmp_path / "a" / "x.toml").read_text()
    assert 'file = "film.csv"' in scenario.to_toml()


def test_what_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"cannot be written .*; write the path"):
        SCENARIO.save(tmp_path / "none" / "x.toml")
    assert not list(tmp_path.iterdir())


def test_a_scenario_is_shown_in_one_short_line() -> None:
    for path in FOLDER.glob("*.toml"):
        shown = repr(load(path))
        assert "\n" not in shown and len(shown) < 200
    assert repr(SCENARIO) == '<Scenario "unnamed": 155 Mbit/s, drop-tail 1 bdp, 100 long>'
    assert repr(Long(flows=3, rtt="10 ms")) == "Long(rtt='10 ms', flows=3)"


def test_the_hint_is_in_the_words_of_python() -> None:
    with pytest.raises(ForebayError, match="write True or False"):
        Long(flows=1, sack=3)  # type: ignore[arg-type]
