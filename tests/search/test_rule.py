"""What is recommended: the four steps of the rule, of rows; and sizes that can be configured."""

import math
from typing import Any

import pytest
from tests.outcomes import around, link_of, outcome_of, quantiles
from tests.search.conftest import asked

import forebay
from forebay.outcome import Outcome
from forebay.scenario import Scenario, loads
from forebay.search.answer import memory_binds, missed_by_far, none_meets
from forebay.search.goals import goals_of
from forebay.search.parameter import parameter_of
from forebay.search.problem import Problem
from forebay.search.recommended import Chosen, Needs, bursts, choose, price
from forebay.search.rows import Row, crossing
from forebay.search.search import more_seeds

FLOOR = 89
"""Packets of 1500 B: 128 KiB and one packet."""


def problem(scenario: Scenario, **more: Any) -> Problem:
    return Problem(scenario, "simulation", goals_of(scenario), **more)


def at(of: Problem, packets: int, used: float, lost: float = 0.0, waits: float = 0.0) -> Row:
    """Return a row whose values are exact."""

    delay = quantiles(mean=around(waits / 2), p99=around(waits))
    link = link_of(
        utilization=around(used), loss_rate=around(lost), queue_delay_s=delay,
        buffer_packets=packets, bdp_packets=1291.7,
    )  # fmt: skip
    return Row.of(packets, [outcome_of(link, engine="simulation")], of.goals, "simulation")


def chosen(of: Problem, *rows: Row) -> tuple[int, int]:
    found = choose(of, rows, of.limit)
    assert isinstance(found, Chosen)
    return found.packets, found.step


def test_the_least_that_meets_the_goals_and_that_nothing_above_contradicts():
    of = problem(asked(utilization=0.9))
    seen = [at(of, b, u) for b, u in ((20, 0.8), (40, 0.95), (60, 0.85), (80, 0.93), (160, 0.99))]
    assert chosen(of, *seen) == (80, 1)
    assert chosen(of, *seen[:2], *seen[3:]) == (40, 1)


@pytest.mark.parametrize(
    ("rate", "packets"),
    [("1 Gbit/s", FLOOR), ("800 Gbit/s", FLOOR), ("100 Mbit/s", 10), ("10 Mbit/s", 2)],
)
def test_it_holds_two_bursts_of_hosts_as_long_as_they_are_sent(rate, packets):
    """1.05 ms at 100 Mbit/s are 13,125 B; a packet more are 9.75 packets."""
    scenario = asked(utilization=0.5, rate=rate)
    assert bursts(scenario).packets == packets
    of = problem(scenario)
    assert chosen(of, at(of, 1, 0.9), at(of, packets, 0.9)) == (packets, 2)


@pytest.mark.parametrize(("lost", "share"), [(0.05, 1.0), (0.01, 1.0), (0.004, 0.4), (0.0, 0.0)])
def test_it_is_the_rule_of_the_square_root_as_far_as_the_queue_loses(lost, share):
    of = problem(asked(utilization=0.5))
    wanted = math.ceil(share * 1291.67 / 10)
    seen = [at(of, 15, 0.9, lost), at(of, max(wanted, 16), 0.99, lost / 2)]
    assert chosen(of, *seen) == ((wanted, 3) if wanted > 15 else (15, 1))


def test_no_more_than_the_goals_allow():
    of = problem(asked(utilization=0.5, queue_delay_p99=0.01))
    seen = [at(of, 15, 0.9, 0.05, 0.001), at(of, 100, 0.95, 0.05, 0.009)]
    too_long = at(of, 130, 0.99, 0.04, 0.012)
    assert chosen(of, *seen, at(of, 112, 0.97, 0.05, 0.011), too_long) == (100, 4)
    assert choose(of, [seen[0], too_long], of.limit) == Needs(44)
    assert choose(of, [too_long], of.limit) is None


@pytest.mark.parametrize(
    ("run", "packets", "step"),
    [
        ((18, 120), 120, 3),  # the loss with 18 stands for that with 15
        ((18, 1000), 18, 3),
        ((18,), 18, 3),
        ((), 8, 1),
    ],
)
def test_where_the_time_has_ended_the_nearest_run_stands_for_the_size(run, packets, step):
    of = problem(asked(utilization=0.5))
    rows = [at(of, 8, 0.9, 0.05), *(at(of, b, 0.9, 0.05) for b in run)]
    assert isinstance(choose(of, rows, of.limit), Needs)
    found = choose(of, rows, of.limit, rows)
    assert isinstance(found, Chosen) and (found.packets, found.step) == (packets, step)


def test_where_the_time_has_ended_a_size_with_fewer_seeds_may_be_too_large():
    of = problem(asked(utilization=0.5, queue_delay_p99=0.01))
    small, large = at(of, 15, 0.9, 0.05, 0.001), at(of, 130, 0.95, 0.05, 0.0105)
    found = choose(of, [small], of.limit, [small, large])
    assert isinstance(found, Chosen) and (found.packets, found.step) == (15, 4)


def test_the_price_has_half_double_and_what_one_percent_takes():
    of = problem(asked(utilization=0.5))
    lost = {50: 0.05, 100: 0.02, 200: 0.0125, 400: 0.005}
    rows = [at(of, b, 0.99, p, b * 77e-6) for b, p in lost.items()]
    found = price(rows, rows[1], of.limit)
    assert [(each.packets, each.why) for each in found] == [
        (50, "half"), (100, "recommended"), (200, "double"), (237, "loss 1 %"),
    ]  # fmt: skip
    last = found[-1]
    assert last.approximate
    assert last.loss_rate.value == pytest.approx(0.01) and last.loss_rate.low is None


def test_towards_a_size_that_loses_nothing_a_loss_falls_to_a_billionth():
    """From 2 % to 1 % is ln 2 of ln 2 and the ln 1e7 that are left: 0.041 of the way."""
    of = problem(asked(utilization=0.5))
    rows = [at(of, 100, 0.99, 0.02), at(of, 200, 0.99, 0.0)]
    (less,) = (each for each in price(rows, rows[0], of.limit) if each.why == "loss 1 %")
    way = math.log(2) / (math.log(2) + math.log(1e7))
    assert less.packets == round(100 * 2**way)
    assert less.loss_rate.value == pytest.approx(0.02 * (1.0 - way))


def test_one_percent_is_looked_for_above_the_size_alone():
    of = problem(asked(utilization=0.5))
    lost = ((10, 0.02), (20, 0.005), (40, 0.03), (80, 0.004))
    rows = [at(of, packets, 0.99, share) for packets, share in lost]
    (less,) = (each for each in price(rows, rows[2], of.limit) if each.why == "loss 1 %")
    assert 40 < less.packets < 80


@pytest.mark.parametrize(("complete", "none"), [(True, True), (False, False)])
def test_one_row_shows_that_no_size_meets_if_the_curve_is_whole(complete, none):
    of = problem(asked(utilization=0.9))
    assert none_meets([at(of, 10, 0.89)], complete=complete) == none
    assert not none_meets([], complete=complete)
    assert not none_meets([at(of, 10, 0.95)], complete=complete)


def test_the_crossing_lies_between_two_rows_on_a_line_of_logarithms() -> None:
    """Twice the idle time that is asked, and half of it: the mean of the logs of 10 and 40."""
    of = problem(asked(utilization=0.9))
    assert crossing([at(of, 10, 0.8), at(of, 40, 0.95)]) == pytest.approx(math.log(20))
    assert crossing([at(of, 40, 0.95)]) == pytest.approx(math.log(40))
    assert crossing([at(of, 10, 0.8), at(of, 40, 0.9)]) == pytest.approx(math.log(40))
    assert crossing([at(of, 10, 0.8)]) is None


def test_more_seeds_follow_the_largest() -> None:
    assert list(more_seeds(range(1, 6), 8)) == [6, 7, 8]
    assert list(more_seeds([7, 3], 3)) == [8]
    assert list(more_seeds([7, 3], 2)) == []


LINK = """
name = "a chip's port"
memory = "200 kB"
link.rate = "10 Mbit/s"
queue = { size = "1 bdp", alpha = 0.5 }
measure = { warmup = "10 s", duration = "10 s" }
goals.utilization = 0.9999
[[traffic]]
flows = 2
rtt = "100 ms"
"""


@pytest.mark.parametrize(
    ("memory", "alpha", "most"),
    [("200 kB", 0.5, "44 packets"), ("300 kB", 1.0, "100 packets"), ("2 MB", 1.0, "667 packets")],
)
def test_a_queue_alone_has_alpha_of_what_it_leaves(memory, alpha, most):
    asked = forebay.scenario.loads(LINK, overrides=[f"memory={memory}", f"queue.alpha={alpha}"])
    assert most in str(memory_binds(asked, 1000))
    assert not memory_binds(asked, 40)
    own = asked.replace({"memory": None, "queue.alpha": None})
    assert not memory_binds(own, 10**6)


def test_the_reason_says_it():
    answer = forebay.size(forebay.scenario.loads(LINK), max_seeds=5)
    assert answer.recommended is None
    assert "with alpha 0.5 a queue holds 44 packets of the memory at most" in answer.reason


def test_four_sizes_16_times_apart_show_a_goal_that_is_out_of_reach():
    of = problem(asked(utilization=0.95))
    rows = [at(of, packets, 0.5) for packets in (10, 20, 40, 160)]
    assert missed_by_far(rows) is of.goals[0]
    assert missed_by_far([*rows[:3], at(of, 159, 0.5)]) is None
    assert missed_by_far([rows[0], *rows[2:]]) is None
    assert missed_by_far([*rows, at(of, 200, 0.91)]) is None  # within a factor of two


def test_of_two_ends_the_one_counts_whose_interval_is_the_worse():
    of = problem(asked(utilization=0.9))

    def end(used: float, half: float) -> Outcome:
        outcome = at(of, 10, used).outcome
        wide = {"utilization": around(used, half)}
        link = outcome.links["bottleneck"].model_copy(update=wide)
        return outcome.model_copy(update={"links": {"bottleneck": link}})

    ends = [end(0.91, 0.02), end(0.90, 0.005)]
    row = Row.of(10, ends, of.goals, "simulation")
    assert row.metrics[0].value == 0.91 and row.outcome is ends[1]
    assert Row.of(10, ends[:1], of.goals, "simulation").outcome is ends[0]
    narrower = [end(0.91, 0.012), ends[1]]
    assert Row.of(10, narrower, of.goals, "simulation").metrics[0].value == 0.90


def test_a_policers_burst_is_bytes_also_where_queues_share_a_memory():
    scenario = loads(
        'memory = "3 MB"\nqueue.alpha = 1.0\nlink.rate = "1 Gbit/s"\n'
        'link.policer = { rate = "100 Mbit/s", burst = "100 kB" }\n[[traffic]]\nflows = 9\n'
    )
    burst = parameter_of(scenario, "simulation", 100, "link.policer.burst")
    alpha = parameter_of(scenario, "simulation", 100, "queue.alpha")
    assert burst.value(scenario, 10) == "15000 B"
    assert alpha.value(scenario, 1000) == pytest.approx(1.0)  # half of the memory
