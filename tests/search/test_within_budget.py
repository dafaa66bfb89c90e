"""Sizings within a time, on links that follow a law."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from tests.search.asking import sized
from tests.search.known_links import KnownLinks, half_root, link

from forebay.engines.footprint import TooMuchMemory
from forebay.outcome import Outcome, SizeResult
from forebay.scenario import Duration, Scenario, loads
from forebay.search.cost import TooLittleTime, in_words
from forebay.search.stopping import Interrupted


def test_what_fits_is_searched_as_ever() -> None:
    found = sized(link("100 Mbit/s", 100), KnownLinks(), 60.0)
    assert found.scaled is None
    assert found.buffer is not None
    assert found.cost is not None
    assert found.cost.spent_s < 60
    assert len(found.curve) > 8


def test_less_time_gives_the_crossing_of_the_whole_link() -> None:
    scenario, engine = link("2 Gbit/s", 400), KnownLinks()
    found = sized(scenario, engine, 30.0)
    assert found.scaled is None
    assert found.buffer is not None
    assert found.buffer.low <= half_root(scenario) <= found.buffer.high
    assert found.buffer.packets == pytest.approx(half_root(scenario), rel=0.15)
    assert engine.runs[-1][0] == 2e9
    assert engine.now <= 30.0
    assert found.cost is not None
    assert found.cost.predicted_s <= 30.0


def test_time_left_after_a_search_with_a_wide_range_goes_into_more_seeds() -> None:
    """Reno with a goal on loss once had 450 to 554 packets after 15 s of 120, for 477."""
    asked, engine = link("100 Mbit/s", 50), KnownLinks(noise=0.6)
    first = sized(asked, KnownLinks(noise=0.6), 60.0)
    more = sized(asked, engine, 60.0, open_ended=True)
    assert first.buffer is not None and more.buffer is not None
    assert first.buffer.high > 1.4 * first.buffer.low
    assert more.buffer.high < 1.2 * more.buffer.low
    assert engine.now < 60.0
    assert max(len(seeds) for _, _, seeds in engine.runs) == 80


def test_more_seeds_are_not_begun_without_the_time_for_them() -> None:
    asked, first = link("100 Mbit/s", 50), KnownLinks(noise=0.6)
    answer = sized(asked, first, 60.0)
    engine = KnownLinks(noise=0.6)
    more = sized(asked, engine, 2.1 * first.now, open_ended=True)
    assert more.buffer == answer.buffer
    assert engine.now == first.now


def test_a_search_with_more_seeds_than_memory_holds_leaves_the_first_answer() -> None:
    asked = link("100 Mbit/s", 50)
    answer = sized(asked, KnownLinks(noise=0.6), 60.0)

    @dataclass
    class Small(KnownLinks):
        def run(self, scenario: Scenario, seeds: Sequence[int], **how: Any) -> Outcome:
            if len(seeds) > 20:
                raise TooMuchMemory("many replications")
            return super().run(scenario, seeds, **how)

    assert sized(asked, Small(noise=0.6), 60.0, open_ended=True).buffer == answer.buffer


def test_stopped_while_more_seeds_run_it_says_what_was_found() -> None:
    asked, first = link("100 Mbit/s", 50), KnownLinks(noise=0.6)
    answer = sized(asked, first, 60.0)
    engine = KnownLinks(noise=0.6, stop_after=2 * len(first.runs) - 4)
    with pytest.raises(Interrupted) as stop:
        sized(asked, engine, 60.0, open_ended=True)
    assert answer.buffer is not None
    found = f"{answer.buffer.packets} packets ({answer.buffer.low} to {answer.buffer.high})"
    assert f"up to 20 seeds gave {found}" in (stop.value.result.reason or "")


def test_a_search_with_more_seeds_that_does_not_end_leaves_the_first_answer() -> None:
    asked, first = link("100 Mbit/s", 50), KnownLinks(noise=0.6)
    answer = sized(asked, first, 60.0)

    @dataclass
    class Slower(KnownLinks):
        def run(self, scenario: Scenario, seeds: Sequence[int], **how: Any) -> Outcome:
            if len(seeds) > 20:
                self.packets_per_s = 1e5
            return super().run(scenario, seeds, **how)

    engine = Slower(noise=0.6)
    more = sized(asked, engine, 4.0 * first.now, open_ended=True)
    assert more.buffer == answer.buffer
    assert engine.now <= 4.0 * first.now


@pytest.mark.parametrize(("rate", "flows"), [("100 Gbit/s", 200_000), ("10 Gbit/s", 2_000)])
def test_a_link_that_does_not_fit_is_scaled(rate: str, flows: int) -> None:
    scenario, engine = link(rate, flows), KnownLinks()
    found = sized(scenario, engine, 20.0)
    assert found.buffer is not None
    assert found.buffer.low <= half_root(scenario) <= found.buffer.high
    assert engine.now <= 20.0
    assert found.scaled is not None
    assert found.scaled.factor > 1
    assert not any("smaller windows" in note for note in found.notes)
    assert not any("upper end" in note for note in found.notes)
    assert len(found.scaled.links) >= 2
    error = found.scaled.error
    assert error.low is not None and error.high is not None
    assert error.low < 0 < error.high
    assert found.buffer.packets in [point.packets for point in found.curve]
    assert found.curve[0].outcome.links["bottleneck"].bdp_packets == scenario.bdp_packets
    assert SizeResult.from_json(found.to_json()) == found


def test_poisson_datagrams_need_the_same_packets_at_any_rate() -> None:
    """Extrapolated from 373 times smaller links, 22 packets once were 20 to 825."""
    traffic = '[[traffic]]\nkind = "udp"\nflows = 50\nload = 0.99\narrivals = "poisson"\n'
    rate = '[link]\nrate = "400 Gbit/s"\n[queue]\nsize = "9 packets"\n'
    found = sized(
        loads(f"{rate}{traffic}[goals]\nutilization = 0.98\n"), KnownLinks(lambda _: 22.0), 60.0
    )
    assert found.scaled is not None
    assert found.buffer is not None
    assert 18 <= found.buffer.low <= 22 <= found.buffer.high <= 27


def test_more_time_plays_larger_links() -> None:
    scenario = link("100 Gbit/s", 200_000)
    factors = []
    for budget_s in (10.0, 100.0):
        found = sized(scenario, KnownLinks(), budget_s)
        assert found.scaled is not None
        factors.append(found.scaled.factor)
    assert factors[0] > 4 * factors[1]


def test_a_link_that_fits_is_not_replaced_by_one_a_little_smaller() -> None:
    engine = KnownLinks(packets_per_s=2e7)  # twice as fast as predicted
    found = sized(link("8 Gbit/s", 1600), engine, 140.0)
    assert found.scaled is None  # once: a link 1.25 times smaller, in 28 of 140 s
    assert engine.now <= 140.0


def test_a_slow_machine_plays_smaller_links_and_keeps_to_its_time() -> None:
    engine = KnownLinks(packets_per_s=1e6)
    found = sized(link("100 Gbit/s", 200_000), engine, 60.0)
    assert found.scaled is not None
    assert engine.now <= 1.1 * 60.0


def test_a_delay_goal_that_the_answer_exceeds_stands_against_it() -> None:
    tight = link("100 Gbit/s", 20_000, 'utilization = 0.98\nqueue_delay_p99 = "1 us"')
    found = sized(tight, KnownLinks(), 20.0)
    assert found.buffer is None
    assert "contradict" in (found.reason or "")


def test_delays_are_those_of_the_whole_link() -> None:
    scenario = link("100 Gbit/s", 20_000, 'utilization = 0.98\nqueue_delay_p99 = "5 ms"')
    found = sized(scenario, KnownLinks(), 20.0)
    assert found.buffer is not None
    reached = next(goal.reached.value for goal in found.goals if goal.name == "queue_delay_p99")
    assert reached == pytest.approx(found.buffer.seconds, rel=0.02)
    assert found.region[0].high == pytest.approx(5e-3 * 1e11 / 12_000, abs=1)


def test_few_flows_are_refused_where_windows_cannot_shrink() -> None:
    few = link("400 Gbit/s", 20, "loss_rate = 0.001")
    with pytest.raises(TooLittleTime, match="too few flows") as refused:
        sized(few, KnownLinks(), 10.0)
    assert refused.value.exit_status == 3
    assert "write budget=" in str(refused.value)


def seeds_of(found: SizeResult) -> int:
    assert found.buffer is not None
    there = next(each for each in found.curve if each.packets == found.buffer.packets)
    return len(there.outcome.provenance.seeds)


def test_time_left_after_the_crossing_goes_into_more_seeds() -> None:
    scenario = link("2 Gbit/s", 400)
    short, long = (sized(scenario, KnownLinks(), budget_s) for budget_s in (30.0, 60.0))
    assert short.buffer is not None and long.buffer is not None
    assert seeds_of(short) < seeds_of(long) <= 20
    width, narrower = (math.log(each.high / each.low) for each in (short.buffer, long.buffer))
    assert narrower < width
    assert long.buffer.low <= half_root(scenario) <= long.buffer.high
    assert long.cost is not None and long.cost.spent_s <= 60.0


def test_more_seeds_that_do_not_end_in_time_leave_the_first_crossing() -> None:
    scenario = link("2 Gbit/s", 400)

    class Slower(KnownLinks):
        def run(self, scenario, seeds, **more):  # type: ignore[no-untyped-def]
            self.packets_per_s = 1e7 if len(seeds) <= 6 else 1e3
            return super().run(scenario, seeds, **more)

    engine, few = Slower(), Slower()
    found = sized(scenario, engine, 60.0)
    assert engine.now <= 60.0
    assert any(len(seeds) > 6 for _, _, seeds in engine.runs)
    usual = sized(scenario, few, 60.0, max_seeds=6)
    assert all(len(seeds) <= 6 for _, _, seeds in few.runs)
    assert found.buffer is not None and usual.buffer is not None
    assert found.buffer.low == usual.buffer.low
    assert found.buffer.high == pytest.approx(usual.buffer.high, rel=0.2)


def test_too_few_flows_are_refused_before_anything_runs() -> None:
    engine = KnownLinks()
    with pytest.raises(TooLittleTime, match="too few flows"):
        sized(link("400 Gbit/s", 20), engine, 10.0)
    assert engine.runs == []


def test_a_scaled_answer_says_how_long_the_link_itself_takes() -> None:
    found = sized(link("100 Gbit/s", 20_000), KnownLinks(), 20.0)
    assert found.scaled is not None
    assert any("the link itself takes about" in note for note in found.notes)
    smaller, engine = link("10 Gbit/s", 400), KnownLinks(packets_per_s=1e6 / 0.07)
    found = sized(smaller, engine, 40.0)
    assert found.scaled is not None
    (note,) = (note for note in found.notes if "simulates the link itself" in note)
    budget_s = float(Duration.parse(note.split('budget="')[1].split('"')[0]))
    assert sized(smaller, KnownLinks(packets_per_s=1e6 / 0.07), budget_s).scaled is None


@pytest.mark.parametrize(("budget_s", "answers"), [(50.0, True), (40.0, False)])
def test_a_link_with_too_few_flows_is_not_the_last(budget_s: float, answers: bool) -> None:
    """With 50 s a link of 67 flows was simulated, too few for an answer, where one of 80 fits."""
    engine = KnownLinks(packets_per_s=2e6)
    try:
        found = sized(link("800 Gbit/s", 60_000), engine, budget_s)
    except TooLittleTime:
        assert not answers
        assert engine.now < 0.3 * budget_s
        return
    assert answers
    assert found.scaled is not None
    assert found.scaled.links[0].flows >= 80


def test_a_refusal_says_how_long_an_estimate_takes() -> None:
    many = link("1 Tbit/s", 500_000)
    with pytest.raises(TooLittleTime, match="for an estimate from smaller links") as refused:
        sized(many, KnownLinks(), 0.05)
    assert refused.value.scaled_s is not None
    needs_s = 1.25 * refused.value.scaled_s
    assert f'budget="{in_words(needs_s)}"' in str(refused.value)
    assert sized(many, KnownLinks(), needs_s).buffer is not None
    again = pickle.loads(pickle.dumps(refused.value))
    assert (str(again), again.scaled_s) == (str(refused.value), refused.value.scaled_s)


def test_several_links_are_not_scaled() -> None:
    two = link("100 Gbit/s", 20_000, extra='[[links]]\nname = "next"\nrate = "10 Gbit/s"\n')
    with pytest.raises(TooLittleTime, match="several links"):
        sized(two, KnownLinks(), 10.0)


def test_a_goal_that_nothing_meets_says_so() -> None:
    found = sized(link("100 Gbit/s", 20_000), KnownLinks(truth=lambda _: 1e12), 20.0)
    assert found.buffer is None
    assert "missed even with" in (found.reason or "")
    assert "utilization of at least 98 % (0" in (found.reason or "")


def test_the_expected_time_is_told_before_anything_runs() -> None:
    engine, told = KnownLinks(), []
    sized(link("100 Gbit/s", 20_000), engine, 20.0, expect=lambda s: told.append((s, engine.now)))
    assert told == [(20.0, 0.0)]


def test_progress_goes_forward_to_its_end() -> None:
    told: list[float] = []
    sized(link("100 Gbit/s", 20_000), KnownLinks(), 20.0, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_flows_that_are_a_range_are_sized_at_both_ends() -> None:
    scenario, engine = link("100 Gbit/s", '"150000..250000"'), KnownLinks()  # type: ignore[arg-type]
    found = sized(scenario, engine, 60.0)
    assert [end.flows for end in found.ends] == [150_000, 250_000]
    assert found.buffer is not None
    assert found.buffer.packets == max(end.buffer.packets for end in found.ends if end.buffer)
    assert engine.now <= 66.0


def test_few_flows_of_huge_windows_are_kept_and_the_interval_says_so() -> None:
    scenario, engine = link("400 Gbit/s", 100), KnownLinks()
    found = sized(scenario, engine, 30.0)
    assert found.buffer is not None
    assert found.scaled is not None
    assert found.scaled.flows_share == 0.0
    assert any("smaller windows" in note and "9 were in the range" in note for note in found.notes)
    assert {each.flows for each in found.scaled.links} == {100}
    assert found.buffer.high >= 10 * found.buffer.low
    assert any(f"{found.buffer.high} packets are the surest" in note for note in found.notes)
    assert found.buffer.low <= half_root(scenario) <= found.buffer.high <= scenario.bdp_packets + 1


@pytest.mark.parametrize("budget_s", [20.0, 60.0])
def test_the_buffer_that_keeps_the_loss_usable_is_looked_for(budget_s: float) -> None:
    scenario, engine = link("100 Gbit/s", 200_000), KnownLinks(lossy=True)
    found = sized(scenario, engine, budget_s)
    warning = found.loss_warning
    assert warning is not None
    assert warning.packets is not None
    window = (scenario.bdp_packets + warning.packets) / scenario.n_flows
    assert 0.8 * warning.usable < 0.76 / window**2 <= warning.usable
    assert warning.packets in [point.packets for point in found.curve]
    assert engine.now <= budget_s


def test_a_loss_that_the_scenario_allows_is_not_looked_for() -> None:
    allowed = link("100 Gbit/s", 200_000, "utilization = 0.98\nloss_rate = 0.2")
    assert sized(allowed, KnownLinks(lossy=True), 20.0).loss_warning is None


@pytest.mark.parametrize("rate", ["100 Gbit/s", "2 Gbit/s"])
def test_a_stopped_study_says_what_its_links_point_to(rate: str) -> None:
    scenario, whole = link(rate, 2000), KnownLinks()
    sized(scenario, whole, 30.0)
    engine = KnownLinks(stop_after=len(whole.runs) - 1)
    with pytest.raises(Interrupted) as stopped:
        sized(scenario, engine, 30.0)
    found = stopped.value.result
    assert found.interrupted
    assert found.buffer is None
    assert found.nearest in [point.packets for point in found.curve]
    assert "simulated so far give" in (found.reason or "")


def test_a_study_stopped_on_its_first_link_has_nothing_to_say() -> None:
    with pytest.raises(KeyboardInterrupt) as stopped:
        sized(link("100 Gbit/s", 2000), KnownLinks(stop_after=3), 30.0)
    assert not isinstance(stopped.value, Interrupted)
