"""A line of a table of ports that is a LAG or an ECMP group, as a line of one member."""

from __future__ import annotations

import re

from forebay.laws.hashed_members import Group
from forebay.scenario import Rate, ScenarioError
from forebay.scenario.source import FlowCount

_MOST_MEMBERS = 4096
_WHOLE = re.compile(r"[0-9]{1,9}")


def member(cells: dict[str, str]) -> tuple[dict[str, str], str, str | None]:
    """Return the cells of a member, what it is sized for, and why no size can serve it.

    Raises
    ------
    ScenarioError
        A number that cannot be.
    """
    error = None
    group = _group(cells)
    made, said = dict(cells), [f"a member of {group.members}"]
    made["rate"] = str(Rate(float(Rate.parse(cells["rate"])) / group.members))
    if cells.get("n"):
        text = cells["n"]
        flows = FlowCount.parse(int(text) if text.isdigit() else text)
        low, high = group.flows(flows.low, flows.high)
        made["n"] = str(low) if low == high else f"{low}..{high}"
        said.append(f"{made['n']} of {text} flows")
    if cells.get("load"):
        mean = _number("load", cells["load"], 1e-6, 10.0)
        load = group.load(mean)
        error = _overloaded(group, mean, load) if load >= 1.0 else None
        made["load"] = f"{load:.6g}"
        said.append(f"offered {load:.0%} where the group is offered {mean:.0%}")
        if not group.largest_flows:
            said.append("no largest_flows given: the load is counted as spread evenly")
    return made, ", ".join(said), error


def _group(cells: dict[str, str]) -> Group:
    members = _count("members", cells["members"], 2, _MOST_MEMBERS)
    flows, share = cells.get("largest_flows", ""), cells.get("largest_share", "")
    if not flows and not share:
        return Group(members)
    if not flows or not share:
        missing = "largest_share" if flows else "largest_flows"
        wrong = f"{missing} is missing: the two belong together"
        raise ScenarioError("missing", wrong, "write how many flows bring which share of the load")
    many = _count("largest_flows", flows, 1, 10_000_000)
    return Group(members, many, _number("largest_share", share, 0.0, 1.0))


def _count(name: str, text: str, least: int, most: int) -> int:
    if _WHOLE.fullmatch(text) and least <= int(text) <= most:
        return int(text)
    hint = f"write a whole number from {least} to {most}"
    raise ScenarioError("out-of-range", f"{name} is {text[:40]!r}", hint)


def _number(name: str, text: str, least: float, most: float) -> float:
    try:
        found = float(text)
    except ValueError:
        found = float("nan")
    if least <= found <= most:
        return found
    hint = f"write a number from {least:g} to {most:g}, such as 0.3"
    raise ScenarioError("out-of-range", f"{name} is {text[:40]!r}", hint)


def _overloaded(group: Group, mean: float, load: float) -> str:
    return (
        f"hashing may bring the fullest of {group.members} members {load:.0%} of its rate, where "
        f"the group is offered {mean:.0%}: add capacity, or place the largest flows by hand"
    )
