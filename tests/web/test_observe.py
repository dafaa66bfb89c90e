"""`forebay.size` tells every run of a search as it ends."""

import pytest

import forebay
from forebay.web.answering import warm_up

from .serving import QUICK


def test_every_buffer_of_the_curve_is_told_and_the_digits_stay():
    scenario, told = forebay.Scenario.from_dict(QUICK), []
    answer = forebay.size(scenario, seeds=2, observe=told.append)
    same = forebay.size(scenario, seeds=2)
    assert [each.goals for each in answer.curve] == [each.goals for each in same.curve]
    last = {each.links["bottleneck"].buffer_packets: each for each in told}
    assert {each.packets: each.outcome for each in answer.curve} == last


def test_links_of_a_network_are_not_observed():
    network = forebay.load("abilene-slow-edge-small")
    with pytest.raises(forebay.ScenarioError, match="observe"):
        forebay.size(network, "network", link="Denver->Seattle", observe=print)


def test_what_the_first_question_would_wait_for_is_done_before_it() -> None:
    """It failed in its thread, where nobody sees it: its only flow started after its run."""
    warm_up()
