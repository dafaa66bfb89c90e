"""What classes offer, and which further links that may congest."""

import pytest

from forebay.laws.quantities import may_congest, other_queues
from forebay.scenario import Link, Long, OtherLink, Scenario, Udp


def through_core(core: str, *others: Udp) -> Scenario:
    return Scenario(
        link=Link(rate="10 Mbit/s"),
        links=[OtherLink(name="core", rate=core)],
        traffic=[Long(flows=50, rtt="50 ms", route=["bottleneck", "core"]), *others],
    )


def test_flows_bring_a_further_link_no_more_than_the_bottleneck_lets_through():
    assert other_queues(through_core("12 Mbit/s")) == []
    assert other_queues(through_core("9 Mbit/s")) == ["core"]


@pytest.mark.parametrize(("rate", "congests"), [("1.9 Mbit/s", False), ("2.1 Mbit/s", True)])
def test_what_crosses_the_further_link_alone_comes_on_top(rate, congests):
    alone = Udp(flows=1, rate=rate, route=["core"])
    assert may_congest(through_core("12 Mbit/s", alone), "core") is congests
