"""Checks of links that are not a constant wire: what cannot be combined with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.catalogue.link_names import BOTTLENECK
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import Duration
from forebay.scenario.tcp import Tcp

if TYPE_CHECKING:
    from forebay.scenario.link import Link
    from forebay.scenario.model import Scenario
    from forebay.scenario.queue import Queue


CONDITIONS = ("loss", "rate_trace", "down", "jitter")
"""Fields of a link that make it no constant wire."""


def check_links(scenario: Scenario) -> None:
    """Raise ScenarioError for the first contradiction of a link that is not a constant wire."""
    _link(scenario, "link", scenario.link, "queue", scenario.queue)
    for index, link in enumerate(scenario.links):
        _link(scenario, f"links.{index}", link, f"links.{index}.queue", link.queue)
    _last_that_reorder(scenario)


def _last_that_reorder(scenario: Scenario) -> None:
    """Check that round trips hold the delay of a last link too, if it reorders."""
    links = {BOTTLENECK: scenario.link} | {each.name: each for each in scenario.links}
    for index, group in enumerate(scenario.traffic):
        last = links[(group.route or (BOTTLENECK,))[-1]]
        if not isinstance(group, Tcp) or last.jitter is None or not last.jitter.reorder:
            continue
        ways = (group.route or (BOTTLENECK,), group.return_route[:-1])
        delay = sum(links[name].delay for way in ways for name in way)
        if group.rtt.low < delay:
            wrong = f"the links on the route take {Duration(delay)} of an rtt that is less"
            hint = "write a longer rtt, or shorter link delays"
            raise ScenarioError("contradiction", wrong, hint, field=f"traffic.{index}.rtt")


def _link(scenario: Scenario, place: str, link: Link, at_queue: str, queue: Queue) -> None:
    present = [name for name in (*CONDITIONS, "framing") if getattr(link, name) is not None]
    if present and scenario.topology is not None:
        wrong, hint = "cannot be set with a topology", "leave it out: a network's links have none"
        raise ScenarioError("contradiction", wrong, hint, field=f"{place}.{present[0]}")
    if not set(present) & set(CONDITIONS):
        return
    hint = "leave one of the two out"
    varying = next((name for name in ("down", "rate_trace") if name in present), None)
    if varying is not None:
        _with_varying_rate(scenario, place, link, varying)
    if queue.transmit_ring:
        wrong = f"cannot be simulated with {present[0]} of the link"
        raise ScenarioError("contradiction", wrong, hint, field=f"{at_queue}.transmit_ring")
    loss = link.loss
    if queue.alpha is not None and loss is not None and loss.place == "before-queue":
        wrong = "cannot be simulated with loss before the queue"
        raise ScenarioError("contradiction", wrong, hint, field=f"{at_queue}.alpha")


def _with_varying_rate(scenario: Scenario, place: str, link: Link, name: str) -> None:
    if link.down is not None and link.rate_trace is not None:
        hint = 'leave it out, and write a rate of "0 Mbit/s" at these times into the trace'
        raise ScenarioError(
            "contradiction", "cannot be set beside rate_trace", hint, field=f"{place}.down"
        )
    hint = "leave one of the two out"
    if link.shaper is not None:
        wrong = "cannot be simulated before a wire of varying rate"
        raise ScenarioError("contradiction", wrong, hint, field=f"{place}.shaper")
    if scenario.goals.need_round_trips:
        wrong = "cannot be set with a goal that has a probability"
        raise ScenarioError("contradiction", wrong, hint, field=f"{place}.{name}")
