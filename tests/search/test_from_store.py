"""A sizing that was stopped, or too short, goes on from its store."""

from __future__ import annotations

from contextlib import suppress

import pytest
from tests.search.asking import sized
from tests.search.known_links import KnownLinks, link

from forebay.engines.base import Capabilities, Decorator
from forebay.search.cost import TooLittleTime


class Kept(Decorator):
    """Keeps outcomes and checkpoints, as a store does, in one process."""

    def __init__(self, engine: KnownLinks, outcomes: dict, texts: dict[str, str]) -> None:
        super().__init__(engine)
        self._outcomes, self._texts = outcomes, texts

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(checkpoints=self)

    def load(self, name: str) -> str | None:
        return self._texts.get(name)

    def save(self, name: str, text: str) -> None:
        self._texts[name] = text

    def run(self, scenario, seeds, **more):
        key = (scenario.sha256(), tuple(seeds))
        if key not in self._outcomes:
            self._outcomes[key] = self.engine.run(scenario, seeds, **more)
        return self._outcomes[key]


def test_a_stopped_sizing_goes_on_from_its_store() -> None:
    scenario = link("200 Mbit/s", 100)
    whole = KnownLinks()
    sized(scenario, whole, 60.0)
    stopped = KnownLinks(stop_after=8)
    with pytest.raises(KeyboardInterrupt):
        sized(scenario, Kept(stopped, store := {}, {}), 60.0, clock=stopped.clock)
    again = KnownLinks()
    found = sized(scenario, Kept(again, store, {}), 60.0, clock=again.clock)
    assert found.buffer is not None
    assert len(again.runs) == len(whole.runs) - 8


@pytest.mark.parametrize("kept", [True, False])
def test_tries_that_are_each_too_short_answer_in_the_end_if_a_store_keeps_them(kept: bool) -> None:
    """The second try had refused at once what the first had begun."""
    outcomes: dict = {}
    texts: dict[str, str] = {}
    scenario, answered = link("10 Gbit/s", 500), False
    for _ in range(8):
        engine = KnownLinks(packets_per_s=2e6)
        store = Kept(engine, outcomes, texts) if kept else engine
        with suppress(TooLittleTime):
            answered = sized(scenario, store, 10.0, clock=engine.clock).buffer is not None
        assert engine.now <= 12.0
    assert answered is kept


def test_a_stopped_study_goes_on_with_the_links_that_it_had_started() -> None:
    outcomes, texts = {}, {}
    scenario = link("100 Gbit/s", 20_000)
    stopped = KnownLinks(stop_after=60)
    with pytest.raises(KeyboardInterrupt):
        sized(scenario, Kept(stopped, outcomes, texts), 20.0, clock=stopped.clock)
    again = KnownLinks()
    found = sized(scenario, Kept(again, outcomes, texts), 20.0, clock=again.clock)
    whole = sized(scenario, KnownLinks(), 20.0)
    assert found.scaled is not None and whole.scaled is not None
    finished = {rate for rate, _, _ in stopped.runs} - {stopped.runs[-1][0]}
    assert finished
    assert not finished & {rate for rate, _, _ in again.runs}  # none of them is simulated again
    assert finished <= {each.rate_bps for each in found.scaled.links}
    assert found.scaled.factor < whole.scaled.factor  # and their time goes into larger links
    assert again.now <= 20.0


def test_a_record_that_cannot_be_read_is_replaced() -> None:
    scenario = link("100 Gbit/s", 20_000)
    sized(scenario, Kept(first := KnownLinks(), {}, texts := {}), 5.0, clock=first.clock)
    (name,) = texts
    for wrong in ("", "[", "{}", '[{"factor": 2}]'):
        engine, texts = KnownLinks(), {name: wrong}
        store = Kept(engine, {}, texts)
        assert sized(scenario, store, 5.0, clock=engine.clock).buffer is not None
        assert "warmup_s" in texts[name]
