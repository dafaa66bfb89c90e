"""What a scenario assumes because nobody chose it: every default that moves an answer, in one list.

A field counts as chosen if it was written. Each record says in words what was assumed instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.scenario.quantity import Rate
from forebay.scenario.source import Standing
from forebay.scenario.tcp import Tcp

if TYPE_CHECKING:
    from forebay.scenario.model import Scenario
    from forebay.scenario.traffic import Traffic


@dataclass(frozen=True, slots=True)
class Assumption:
    """One default.

    Attributes
    ----------
    field : of a class of traffic; "" for what is said whether or not it was chosen.
    applies : whether the default moves the answers of a class in a scenario.
    says : what is assumed.
    """

    field: str
    applies: Callable[[Scenario, Traffic], bool]
    says: Callable[[Scenario, Traffic], str]


def _is_tcp(_: Scenario, group: Traffic) -> bool:
    return isinstance(group, Tcp)


def _starts(_: Scenario, group: Traffic) -> bool:
    return isinstance(group, Standing) and group.start.high > 0.0


def _begins(_: Scenario, group: Traffic) -> str:
    assert isinstance(group, Standing), "by `applies`"
    return f"flows that start within {group.start.high}"


def _has_access(scenario: Scenario, group: Traffic) -> bool:
    return scenario.topology is None and group.access_rate is None


def _access(scenario: Scenario, group: Traffic) -> str:
    rate = Rate(float(f"{group.access(scenario.link.capacity):.4g}"))
    own = group.access(scenario.link.capacity) > 10 * scenario.link.capacity
    return f"access links of {rate}, {'the peak of the source' if own else 'ten times the link'}"


def _round_trip(_: Scenario, group: Traffic) -> str:
    assert isinstance(group, Tcp), "by `applies`"
    return f"a round trip of {group.rtt.mean} for every flow"


def _sends_singly(_: Scenario, group: Traffic) -> bool:
    return isinstance(group, Tcp) and not group.offloads


def _congestion_control(_: Scenario, group: Traffic) -> str:
    return f"congestion control {getattr(group, 'congestion_control', '')}"


_LIST = (
    Assumption(
        "rtt",
        lambda scenario, group: isinstance(group, Tcp) and scenario.topology is None,
        _round_trip,
    ),
    Assumption("congestion_control", _is_tcp, _congestion_control),
    Assumption("access_rate", _has_access, _access),
    Assumption("sender", _is_tcp, lambda _, group: "the stack of Linux in its present release"),
    Assumption("start", _starts, _begins),
    Assumption(
        "packet",
        lambda _, group: "packet" in type(group).model_fields,
        lambda _, group: f"packets of {group.packet}",
    ),
    Assumption(
        "offload",
        lambda _, group: isinstance(group, Tcp) and group.offloads,
        lambda _, group: "hosts with segmentation offload, which send bursts of up to 64 KiB",
    ),
    Assumption(
        "",
        _sends_singly,
        lambda _, group: "hosts that send one packet at a time, without segmentation offload",
    ),
)


def assumptions(scenario: Scenario) -> tuple[str, ...]:
    """Return what a scenario's traffic assumes, each once, with the classes where not all do."""
    return tuple(_lines(scenario))


def _lines(scenario: Scenario) -> Iterator[str]:
    named = list(zip(scenario.class_names, scenario.traffic, strict=True))
    for each in _LIST:
        said: dict[str, list[str]] = {}
        for name, group in named:
            if _is_assumed(each, scenario, group):
                said.setdefault(each.says(scenario, group), []).append(name)
        for text, names in said.items():
            some = "" if len(names) == len(named) else f" ({_few(names)})"
            yield f"{text}{some}"


def _is_assumed(of: Assumption, scenario: Scenario, group: Traffic) -> bool:
    chosen = of.field in group.model_fields_set
    return not chosen and of.applies(scenario, group)


def _few(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 4 else ""
    return ", ".join(names if not more else names[:3]) + more
