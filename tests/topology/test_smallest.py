"""The smallest set of buffers: it meets the goals, and nothing a step smaller does."""

import json
from pathlib import Path

import pytest
from tests.refused import refused

import forebay
from forebay import networks
from forebay.engines import Unsupported

LOT = Path(__file__).with_name("parking-lot.toml")


def smallest(*changes: str) -> networks.Answer:
    return networks.smallest_buffers(forebay.load(LOT, list(changes)))


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
    outcome = networks.solve(forebay.load(LOT, sizes)).outcome
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
    ("changes", "says"),
    [
        (['goals.queue_delay_p99="5 ms"'], "leave it out"),
        (["goals.loss_rate=1e-9"], "with 4 bdp before every link"),
        (["goals.loss_rate=0"], "with 4 bdp before every link"),
        (["goals.utilization={at_least = 0.9, probability = 0.95}"], "leave it out"),
        (["goals.loss_rate=0.01", 'traffic.0.goals={throughput = "1 Mbit/s"}'], "of links"),
        ([], "no goal is set"),
    ],
)
def test_what_it_is_not_for_is_refused_in_one_line(changes, says):
    with refused(says):
        smallest(*changes)


def test_a_single_link_is_refused():
    with pytest.raises(Unsupported):
        networks.smallest_buffers(forebay.load("oc3-gsr"))
