"""A network counts as time: its routes, its links, and what comes after its packets."""

from __future__ import annotations

import pytest
from tests.search.known_links import KnownLinks

import forebay
from forebay.engines.base import Capabilities, NetworkTraffic
from forebay.scenario import Scenario, loads
from forebay.search.cost import Speed, TooLittleTime
from forebay.search.network_links import LINK_S
from forebay.search.run_within import fitted, routed
from forebay.search.stopping import OutOfTime, TimeLimit

ISP = """
[link]
rate = "1 Gbit/s"
delay = "1 ms"
[queue]
size = "100 packets"
[topology.isp]
hosts = {hosts}
edges = {edges}
[[traffic]]
flows = 50
start = "0 s"
[measure]
warmup = "50 ms"
duration = "50 ms"
"""


class Routed(KnownLinks):
    """Routes a network of so many links in no time, and says so."""

    links, routes_s, searched = 10_000, 1.0, False

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(route=self.route)

    def route(self, scenario, *, progress=None, afford=None):  # type: ignore[no-untyped-def]
        afford(self.links, self.routes_s)
        self.searched = True
        if progress is not None:
            progress(0.5)
        return NetworkTraffic(1e6, 4.0, 100, self.links)


def isp(hosts: int = 200, edges: int = 20) -> Scenario:
    return loads(ISP.format(hosts=hosts, edges=edges))


def limit(seconds: float, now: float = 0.0) -> TimeLimit:
    return TimeLimit(seconds, lambda: now, 0.0)


def test_a_network_that_takes_too_long_is_refused_before_its_routes_are_searched_for() -> None:
    engine = Routed(lambda _: 1.0)
    least_s = 1.0 + LINK_S * engine.links
    with pytest.raises(TooLittleTime, match="10000 links alone") as refused:
        routed(engine, isp(), Speed(1), limit(0.99 * least_s), None)
    assert not engine.searched
    assert refused.value.needs_s == pytest.approx(least_s)
    assert "--engine network" in refused.value.hint or "network" in refused.value.hint


def test_time_that_has_passed_before_counts() -> None:
    engine = Routed(lambda _: 1.0)
    least_s = 1.0 + LINK_S * engine.links
    with pytest.raises(TooLittleTime):
        routed(engine, isp(), Speed(1), limit(1.5 * least_s, now=0.6 * least_s), None)


def test_the_price_of_a_network_is_that_of_its_packets_and_links() -> None:
    engine = Routed(lambda _: 1.0)
    speed, after_s = routed(engine, isp(), Speed(1), limit(1000.0), None)
    assert after_s == pytest.approx(LINK_S * engine.links)
    assert speed.price(isp(), 0.0) > after_s
    packets_s = speed.price(isp(), 2.0) - speed.price(isp(), 1.0)
    assert packets_s > 2 * (Speed(1).price(isp(), 2.0) - Speed(1).price(isp(), 1.0))
    with pytest.raises(TooLittleTime, match="how long is measured"):
        fitted(isp(), limit(after_s), 1, speed)


def test_the_time_ends_while_a_network_is_routed() -> None:
    engine, clock = Routed(lambda _: 1.0), iter([0.0, 1000.0])
    time = TimeLimit(100.0, lambda: next(clock), 0.0)
    with pytest.raises(OutOfTime):
        routed(engine, isp(), Speed(1), time, lambda _: None)


def test_what_comes_after_the_packets_is_kept_free() -> None:
    ending = limit(10.0, now=8.0).ending(None, after_s=1.0)
    ending(0.5)
    with pytest.raises(OutOfTime):
        limit(10.0, now=8.9).ending(None, after_s=1.0)(0.5)


def test_a_whole_run_over_a_network_keeps_its_budget_or_says_what_it_needs() -> None:
    with pytest.raises(TooLittleTime, match="links alone take that long") as refused:
        forebay.run(isp(20_000, 10_000), budget="0.5 s")
    assert refused.value.of_network
    assert refused.value.needs_s > 2.0
    assert forebay.run(isp(), budget="20 s").network is not None


def test_routes_are_kept_for_another_window() -> None:
    from forebay.engines.replication import problem_of

    first = problem_of(isp())
    later = isp().model_copy(update={"measure": isp().measure.model_copy(update={"warmup": 1.0})})
    assert problem_of(later) is first
    assert problem_of(isp(400)) is not first
