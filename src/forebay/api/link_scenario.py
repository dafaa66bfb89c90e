"""A link in a few words: the scenario of a rate, a number of flows, and their round trips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forebay.errors import option
from forebay.scenario import Scenario, ScenarioError, loads
from forebay.scenario.io import quoted

_DEFAULT_GOAL = "utilization=0.98"


def link_scenario(
    rate: str = "",
    flows: str = "",
    rtt: str = "",
    mix: str = "",
    goal: Sequence[str] = (),
    set: Sequence[str] = (),
) -> Scenario:
    """Return the scenario of a link that long flows share.

    Parameters
    ----------
    rate : such as ``"10 Gbit/s"``.
    flows : a number, or a range ``"50..200"``.
    rtt : a time, or ``"20 ms..120 ms"`` for round trips spread evenly between them.
    mix : shares of congestion controls, ``"cubic=0.5,bbr=0.5"``, or one control.
    goal : goals of the link, ``"utilization=0.95"``; that of 0.98 by default.
    set : ``PATH=VALUE`` strings, as in `load`.

    Returns
    -------
    Scenario

    Raises
    ------
    ScenarioError
        What is missing or wrong, and what to write.

    Examples
    --------
    >>> import forebay
    >>> link = forebay.link_scenario(rate="1 Gbit/s", flows="100", rtt="20 ms..80 ms")
    >>> round(link.bdp_packets)
    4167
    """
    if not rate or not flows:
        name, example = ("rate", "10 Gbit/s") if not rate else ("flows", "1000")
        hint = f"write {option(name, example)}, or SCENARIO, a file"
        raise ScenarioError("missing", "nothing says which link", hint, field=name)
    text = "\n".join(_lines(rate, flows, rtt, mix, goal or (_DEFAULT_GOAL,)))
    return loads(text, source="options", overrides=set)


def _lines(rate: str, flows: str, rtt: str, mix: str, goals: Sequence[str]) -> Iterator[str]:
    yield f"name = {quoted(f'{rate}, {flows} flows')}"
    yield f"[link]\nrate = {quoted(rate)}"
    yield f"[[traffic]]\nflows = {flows if flows.isdigit() else quoted(flows)}"
    low, both, high = (part.strip() for part in rtt.partition(".."))
    if low:
        spread = f"{{ uniform = [{quoted(low)}, {quoted(high)}] }}"
        yield f"rtt = {spread if both else quoted(low)}"
    if mix:
        yield f"congestion_control = {_mix(mix)}"
    yield "[goals]"
    for each in goals:
        name, equals, value = (part.strip() for part in each.partition("="))
        if not equals or not value:
            hint = 'write NAME=VALUE, such as utilization=0.95 or queue_delay_p99="10 ms"'
            raise ScenarioError("bad-goal", f"{each!r} is no goal", hint, field="goal")
        yield f"{name} = {value if _is_number(value) else quoted(value.strip(chr(34)))}"


def _mix(mix: str) -> str:
    parts = [[part.strip() for part in each.partition("=")[::2]] for each in mix.split(",")]
    if len(parts) == 1 and not parts[0][1]:
        return quoted(parts[0][0])
    wrong = next((name for name, share in parts if not name or not _is_number(share)), None)
    if wrong is not None or len({name for name, _ in parts}) < len(parts):
        hint = "write each control once with its share, such as cubic=0.5,bbr=0.5"
        raise ScenarioError("bad-mix", f"{mix!r} is no mix", hint, field="mix")
    return "{ " + ", ".join(f"{quoted(name)} = {float(share):g}" for name, share in parts) + " }"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
