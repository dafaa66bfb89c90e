"""One link of a network, or all of a class, sized by the network engine."""

from __future__ import annotations

from pathlib import Path

import pytest

import forebay
from forebay.scenario import ScenarioError

LOT = Path(__file__).with_name("parking-lot.toml")
GOAL = "goals.loss_rate=0.02"


def solved(packets: int) -> forebay.Outcome:
    return forebay.run(forebay.load(LOT, [f"queue.size={packets} packets"]), engine="network")


def test_a_class_of_links_gets_the_smallest_buffer_with_which_all_meet_the_goal():
    """Solved again with the answer in the scenario, and with one packet less."""
    answer = forebay.size(forebay.load(LOT, [GOAL]), engine="network", link_class="core")
    packets = answer.buffer.packets
    for size, met in ((packets, True), (packets - 1, False)):
        core = [each for each in solved(size).links.values() if each.link_class == "core"]
        assert (max(each.loss_rate.value for each in core) <= 0.02) is met
    assert answer.buffer.seconds == pytest.approx(packets * 12000 / 155e6)
    assert "each of the 3 links of class core" in answer.notes[0]


def test_one_link_is_sized_and_the_others_keep_theirs():
    scenario = forebay.load(LOT, [GOAL])
    alone = forebay.size(scenario, engine="network", link="B->C")
    links = alone.curve[0].outcome.links
    assert {links[name].buffer_packets for name in ("A->B", "C->D")} == {91}
    assert links["B->C"].buffer_packets == links["bottleneck"].buffer_packets
    seen = {each.packets: each.outcome.links["B->C"].loss_rate.value for each in alone.curve}
    assert seen[alone.buffer.packets] <= 0.02 < seen[alone.buffer.packets - 1]


@pytest.mark.parametrize(
    ("asked", "engine", "changes", "said"),
    [
        ({}, "network", [], "write link"),
        ({"link": "A->B", "link_class": "core"}, "network", [], "at a time"),
        ({"link": "A->Q"}, "network", [], 'no link "A->Q"; write one such as A->B'),
        ({"link": "B->A"}, "network", [], "no connection crosses"),
        ({"link_class": "cor"}, "network", [], "write one of core"),
        ({"link": "A->B"}, "testbed", [], "sizes no link of a network"),
        ({"link": "A->B"}, "network", ["queue.discipline=codel"], "no codel is sized"),
    ],
)
def test_what_is_not_sized_is_said_in_one_line(asked, engine, changes, said):
    with pytest.raises(ScenarioError, match=said) as error:
        forebay.size(forebay.load(LOT, [GOAL, *changes]), engine=engine, **asked)
    assert "\n" not in str(error.value) and error.value.exit_status == 2
