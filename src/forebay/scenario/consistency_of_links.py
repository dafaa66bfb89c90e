"""Checks of links that are not a constant wire: what cannot be combined with their loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.scenario.errors import ScenarioError

if TYPE_CHECKING:
    from forebay.scenario.link import Link
    from forebay.scenario.model import Scenario
    from forebay.scenario.queue import Queue


def check_links(scenario: Scenario) -> None:
    """Raise ScenarioError for the first contradiction of a link with loss."""
    _link(scenario, "link", scenario.link, "queue", scenario.queue)
    for index, link in enumerate(scenario.links):
        _link(scenario, f"links.{index}", link, f"links.{index}.queue", link.queue)


def _link(scenario: Scenario, place: str, link: Link, at_queue: str, queue: Queue) -> None:
    if link.loss is None:
        return
    if scenario.topology is not None:
        wrong, hint = "cannot be set with a topology", "leave it out: a network's links have none"
        raise ScenarioError("contradiction", wrong, hint, field=f"{place}.loss")
    hint = "leave one of the two out"
    if queue.transmit_ring:
        wrong = "cannot be simulated with loss of the link"
        raise ScenarioError("contradiction", wrong, hint, field=f"{at_queue}.transmit_ring")
    if queue.alpha is not None and link.loss.place == "before-queue":
        wrong = "cannot be simulated with loss before the queue"
        raise ScenarioError("contradiction", wrong, hint, field=f"{at_queue}.alpha")
