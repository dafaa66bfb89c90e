"""One link of a network, all of a class, or the smallest set of all, by the network engine."""

import json

import pytest
from tests.refused import refused
from tests.topology.build import lot

import forebay
from forebay import networks
from forebay.report.size import evidence_tables

GOAL = "goals.loss_rate=0.02"


def solved(packets: int) -> forebay.Outcome:
    return forebay.run(lot(f"queue.size={packets} packets"), engine="network")


@pytest.fixture(scope="module")
def answer() -> forebay.SizeResult:
    """Every link of the core, sized by the network engine."""
    return forebay.size(lot(GOAL), engine="network", link_class="core")


def test_a_class_of_links_gets_the_smallest_buffer_with_which_all_meet_the_goal(answer):
    """Solved again with the answer in the scenario, and with one packet less."""
    packets = answer.buffer.packets
    for size, met in ((packets, True), (packets - 1, False)):
        core = [each for each in solved(size).links.values() if each.link_class == "core"]
        assert (max(each.loss_rate.value for each in core) <= 0.02) is met
    assert answer.buffer.seconds == pytest.approx(packets * 12000 / 155e6)
    assert "each of the 3 links of class core" in answer.notes[0]


def test_one_link_is_sized_and_the_others_keep_theirs():
    scenario = lot(GOAL)
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
        ({"link": "A->B"}, "testbed", [], "cannot size links of a network"),
        ({"link": "A->B"}, "network", ["queue.discipline=codel"], "codel cannot be sized"),
    ],
)
def test_what_is_not_sized_is_said_in_one_line(asked, engine, changes, said):
    with refused(said):
        forebay.size(lot(GOAL, *changes), engine=engine, **asked)


SMALL = [
    "link.rate=5 Mbit/s", "traffic.0.flows=20", "queue.size=20 packets", "measure.warmup=2 s",
    "measure.duration=4 s", "goals.utilization=0.5",
]  # fmt: skip


def test_the_simulator_sizes_a_link_beside_the_buffers_of_the_others():
    scenario = lot(*SMALL)
    expected: list[float] = []
    answer = forebay.size(
        scenario, seeds=2, max_seeds=2, link="A->B", budget="10 min", expect=expected.append
    )
    assert expected and answer.cost.predicted_s == expected[0]
    assert "that of A->B" in answer.notes[0]
    chosen = next(each for each in answer.curve if each.packets == answer.buffer.packets)
    links = chosen.outcome.links
    assert {links[name].buffer_packets for name in ("B->C", "C->D")} == {20}
    assert links["A->B"].buffer_packets == answer.buffer.packets
    assert links["A->B"].utilization.value >= 0.5


def test_a_class_is_read_at_its_worst_link_by_the_simulator():
    answer = forebay.size(lot(*SMALL), seeds=2, max_seeds=2, link_class="core", budget="10 min")
    for each in answer.curve:
        links = each.outcome.links
        core = [links[name].utilization.value for name in ("A->B", "B->C", "C->D")]
        assert links["bottleneck"].utilization.value == min(core)


def test_a_network_that_does_not_fit_the_time_says_what_was_seen():
    found = forebay.size(lot("goals.utilization=0.9"), link="A->B", budget="1 s")
    assert found.exit_status == 3 and found.undecided and found.reason
    assert found.cost.spent_s < 3.0


def test_each_link_of_a_class_has_its_own_size_and_the_first_forces_the_answer(answer):
    sizes = answer.links
    assert {each.link for each in sizes} == {"A->B", "B->C", "C->D"}
    assert sizes[0].packets == answer.buffer.packets and sizes[0].binding == ("loss_rate",)
    needed = [each.packets for each in sizes]
    assert needed == sorted(needed, reverse=True)
    tried = {point.packets: point.outcome for point in answer.curve}
    for each in sizes:
        assert tried[each.packets].links[each.link].loss_rate.value <= 0.02
        smaller = [tried[packets].links[each.link] for packets in tried if packets < each.low]
        assert all(link.loss_rate.value > 0.02 for link in smaller[-1:])
    (table,) = (made for title, made in evidence_tables(answer)
                if f"{sizes[0].link} forces the size ({needed[0]} packets)" in title)  # fmt: skip
    assert table.row_count == 3
    alone = forebay.size(lot(GOAL), engine="network", link=sizes[0].link)
    assert alone.links == ()


def smallest(*changes: str) -> networks.Answer:
    return networks.smallest_buffers(lot(*changes))


@pytest.fixture(scope="module")
def of_loss() -> networks.Answer:
    return smallest("goals.loss_rate=0.01")


def said(answer: networks.Answer) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = answer.outcome.provenance.model_dump()["smallest_buffers"][
        "classes"
    ]
    return found


def worst_loss(core: int, access: int) -> float:
    sizes = [f"topology.classes.0.buffer={core} packets", f"topology.classes.1.buffer={access}"]
    sizes[1] += " packets"
    outcome = networks.solve(lot(*sizes)).outcome
    return max(link.loss_rate.value for link in outcome.links.values() if link.loss_rate)


def test_the_goal_holds_at_every_link_and_not_with_less(of_loss):
    found = said(of_loss)
    core, access = (round(found[name]["packets_max"]) for name in ("core", "access"))
    assert access == 1  # links that are never full need no buffer
    losses = [link.loss_rate.value for link in of_loss.outcome.links.values() if link.loss_rate]
    assert max(losses) <= 0.01
    assert worst_loss(core, access) == pytest.approx(max(losses), rel=1e-3)
    assert worst_loss(round(core / 1.06), access) > 0.01


def test_its_bytes_are_those_of_every_buffer(of_loss):
    found = said(of_loss)
    bytes_ = 1500 * sum(each["links"] * each["packets_max"] for each in found.values())
    assert of_loss.outcome.provenance.model_dump()["smallest_buffers"]["bytes"] == bytes_
    assert sum(each["bytes"] for each in found.values()) == bytes_
    json.dumps(of_loss.outcome.to_dict())


def test_links_that_demand_leaves_idle_are_not_asked_to_be_full():
    answer = smallest("goals.utilization=0.99")
    links = answer.outcome.links
    used = {name: link.utilization.value for name, link in links.items() if link.utilization}
    assert all(used[name] >= 0.99 for name in ("A->B", "B->C", "C->D"))
    assert used["B/hosts->B"] < 0.5


@pytest.mark.parametrize(
    ("changes", "says", "status"),
    [
        (['goals.queue_delay_p99="5 ms"'], "leave it out", 2),
        (["goals.loss_rate=1e-9"], "with 4 bdp before every link", 1),
        (["goals.loss_rate=0"], "with 4 bdp before every link", 1),
        (["goals.utilization={at_least = 0.9, probability = 0.95}"], "leave it out", 2),
        (["goals.loss_rate=0.01", 'traffic.0.goals={throughput = "1 Mbit/s"}'], "of links", 2),
        ([], "no goal is set", 2),
    ],
)
def test_what_it_is_not_for_is_refused_in_one_line(changes, says, status):
    with refused(says, status=status):
        smallest(*changes)
