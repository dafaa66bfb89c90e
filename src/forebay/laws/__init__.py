"""Published laws of buffer sizing, one a file: pure functions of arrays, and a `LAW` each.

The functions can be used alone: ``laws.sqrt_n.buffer(bdp, n)``. `for_scenario` asks every
law about a scenario, those of other distributions too; each says which of its assumptions the
scenario breaks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay import plugins
from forebay.laws import (
    burst_law,
    general_decrease,
    heterogeneous,
    loss,
    mix,
    rule_of_thumb,
    short_flows,
    single_flow,
    sqrt_n,
    synchronized,
    utilization,
)
from forebay.laws.answer import Law, LawAnswer
from forebay.laws.regime import Regime, governing_law, regime_of
from forebay.lazy import attributes
from forebay.scenario import expect_scenario

if TYPE_CHECKING:
    from forebay.laws import (
        burst_queue,
        burst_traffic,
        burst_wait,
        bursts,
        completion_time,
        desynchronized,
        effective_bandwidth,
        exact_bursts,
        finite_queue,
        fractional_brownian,
        partial_synchrony,
        response,
        sawtooth,
        tcp_and_link,
        tiny_buffers,
        uncertainty,
    )
    from forebay.scenario import Scenario

LAWS: tuple[Law, ...] = (
    rule_of_thumb.LAW,
    single_flow.LAW,
    synchronized.LAW,
    sqrt_n.LAW,
    utilization.LAW,
    loss.LAW,
    heterogeneous.LAW,
    general_decrease.LAW,
    mix.LAW,
    short_flows.LAW,
    short_flows.FULL_LAW,
    burst_law.LAW,
)
"""Every law, in the order in which they are shown."""
BURST_LAWS: tuple[Law, ...] = (short_flows.LAW, short_flows.FULL_LAW, burst_law.LAW)
"""Those of them that need no flows that last, and so no n."""


def of_others() -> tuple[Law, ...]:
    """Laws of other distributions, in the order of their entry points in ``forebay.laws``.

    Raises
    ------
    BrokenPlugin
        An entry point that cannot be loaded, or is no `Law`.
    """
    return tuple(_of_other(name) for name in sorted(plugins.found(__name__)))


def _of_other(name: str) -> Law:
    law = plugins.load(__name__, name)
    if not isinstance(law, Law):
        raise plugins.refuse(__name__, name, "is no forebay.laws.Law")
    return law


def for_scenario(scenario: Scenario) -> list[LawAnswer]:
    """Answers of all laws that have anything to say about `scenario`, broken ones included.

    Without flows that last there is no n to put into the laws of such, only bursts. Raises
    ScenarioError for what is no Scenario.
    """
    expect_scenario(scenario)
    ours = LAWS if scenario.n_flows else BURST_LAWS
    answers = [law.answer_over_range(scenario) for law in (*ours, *of_others())]
    return [a for a in answers if a.packets is not None or a.utilization is not None]


__all__ = [
    "BURST_LAWS",
    "LAWS",
    "Law",
    "LawAnswer",
    "Regime",
    "burst_law",
    "burst_queue",
    "burst_traffic",
    "burst_wait",
    "bursts",
    "completion_time",
    "desynchronized",
    "effective_bandwidth",
    "exact_bursts",
    "finite_queue",
    "for_scenario",
    "fractional_brownian",
    "general_decrease",
    "governing_law",
    "heterogeneous",
    "loss",
    "mix",
    "of_others",
    "partial_synchrony",
    "regime_of",
    "response",
    "rule_of_thumb",
    "sawtooth",
    "short_flows",
    "single_flow",
    "sqrt_n",
    "synchronized",
    "tcp_and_link",
    "tiny_buffers",
    "uncertainty",
    "utilization",
]

# Formulas without a `LAW`, and what only theory asks for: read when they are asked for.
_HOLDERS = dict.fromkeys(
    (
        "burst_queue",
        "burst_traffic",
        "burst_wait",
        "bursts",
        "completion_time",
        "desynchronized",
        "effective_bandwidth",
        "exact_bursts",
        "finite_queue",
        "fractional_brownian",
        "partial_synchrony",
        "response",
        "sawtooth",
        "tcp_and_link",
        "tiny_buffers",
        "uncertainty",
    ),
    "",
)
__getattr__ = attributes(__name__, _HOLDERS)
