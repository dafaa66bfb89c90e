"""Checks of links that are not a constant wire: what cannot be combined with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.scenario.errors import ScenarioError

if TYPE_CHECKING:
    from forebay.scenario.link import Link
    from forebay.scenario.model import Scenario
    from forebay.scenario.queue import Queue


def check_links(scenario: Scenario) -> None:
    """Raise ScenarioError for the first contradiction of a link with loss or a trace of rates."""
    _link(scenario, "link", scenario.link, "queue", scenario.queue)
    for index, link in enumerate(scenario.links):
        _link(scenario, f"links.{index}", link, f"links.{index}.queue", link.queue)


def _link(scenario: Scenario, place: str, link: Link, at_queue: str, queue: Queue) -> None:
    present = [name for name in ("loss", "rate_trace") if getattr(link, name) is not None]
    if not present:
        return
    if scenario.topology is not None:
        wrong, hint = "cannot be set with a topology", "leave it out: a network's links have none"
        raise ScenarioError("contradiction", wrong, hint, field=f"{place}.{present[0]}")
    hint = "leave one of the two out"
    if link.rate_trace is not None:
        _with_trace(scenario, place, link)
    if queue.transmit_ring:
        wrong = f"cannot be simulated with {present[0]} of the link"
        raise ScenarioError("contradiction", wrong, hint, field=f"{at_queue}.transmit_ring")
    loss = link.loss
    if queue.alpha is not None and loss is not None and loss.place == "before-queue":
        wrong = "cannot be simulated with loss before the queue"
        raise ScenarioError("contradiction", wrong, hint, field=f"{at_queue}.alpha")


def _with_trace(scenario: Scenario, place: str, link: Link) -> None:
    hint = "leave one of the two out"
    if link.shaper is not None:
        wrong = "cannot be simulated before a wire of varying rate"
        raise ScenarioError("contradiction", wrong, hint, field=f"{place}.shaper")
    if scenario.goals.need_round_trips:
        wrong = "cannot be set with a goal that has a probability"
        raise ScenarioError("contradiction", wrong, hint, field=f"{place}.rate_trace")
