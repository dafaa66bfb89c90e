"""Published laws of buffer sizing, one in each file: pure functions of arrays, and a `LAW`.

The functions can be used alone: ``laws.sqrt_n.buffer(bdp, n)``. `for_scenario` applies every law to
a scenario, including those of other distributions; each lists its assumptions that the scenario
breaks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay import plugins
from forebay.catalogue import KINDS
from forebay.laws import (
    general_decrease as general_decrease, heterogeneous as heterogeneous, incast as incast,
    loss as loss, mix as mix, rule_of_thumb as rule_of_thumb, single_flow as single_flow,
    sqrt_n as sqrt_n, synchronized as synchronized, utilization as utilization,
)  # fmt: skip
from forebay.laws.law import Law as Law, LawAnswer as LawAnswer
from forebay.laws.quantities import bursts_only, long_and_short
from forebay.laws.regime import (
    Regime as Regime, governing_law as governing_law, regime_of as regime_of,
)  # fmt: skip
from forebay.packages import attributes
from forebay.scenario import Requests, expect_scenario

if TYPE_CHECKING:
    from forebay.laws import (
        burst_law as burst_law, bursts as bursts, completion_time as completion_time,
        desynchronized as desynchronized, effective_bandwidth as effective_bandwidth,
        finite_queue as finite_queue, fractional_brownian as fractional_brownian,
        partial_synchrony as partial_synchrony, response as response, sawtooth as sawtooth,
        short_flows as short_flows, tcp_and_link as tcp_and_link, tiny_buffers as tiny_buffers,
        uncertainty as uncertainty,
    )  # fmt: skip
    from forebay.laws.registry import BURST_LAWS as BURST_LAWS, LAWS as LAWS
    from forebay.scenario import Scenario

_LASTING = (
    rule_of_thumb.LAW, single_flow.LAW, synchronized.LAW, sqrt_n.LAW, utilization.LAW, loss.LAW,
    heterogeneous.LAW, general_decrease.LAW, mix.LAW,
)  # fmt: skip
"""Laws of long flows, in the order in which their answers are shown."""


def of_long_flows(scenario: Scenario | None = None) -> tuple[Law, ...]:
    """Laws of long flows: all of them, or those that can answer a scenario."""
    if scenario is None:
        return _LASTING
    asked = {
        loss.LAW.name: scenario.goals.loss_rate is not None,
        mix.LAW.name: long_and_short(scenario),
    }
    return tuple(law for law in _LASTING if asked.get(law.name, True))


def of_others() -> tuple[Law, ...]:
    """Laws of other distributions, in the order of their entry points in ``forebay.laws``.

    Raises BrokenPlugin if an entry point cannot be loaded, or is not a `Law`.
    """
    laws = {name: plugins.load(__name__, name) for name in sorted(plugins.found(__name__))}
    for name, law in laws.items():
        if not isinstance(law, Law):
            raise plugins.refuse(__name__, name, "is not a forebay.laws.Law")
    return tuple(laws.values())


def for_scenario(scenario: Scenario) -> list[LawAnswer]:
    """Answers of all laws that apply to `scenario`, including those with broken assumptions.

    Without long flows only laws of bursts apply, because the others need n; workers that answer
    together have a law of their own. Raises ScenarioError if `scenario` is not a Scenario.
    """
    expect_scenario(scenario)
    asks = any(isinstance(group, Requests) for group in scenario.crossing)
    lasts = any(KINDS[group.kind].lasts for group in scenario.crossing)
    ours = of_long_flows(scenario) if scenario.n_flows and (lasts or not asks) else ()
    if asks:
        ours += (incast.LAW,)
    if bursts_only(scenario):
        from forebay.laws.registry import BURST_LAWS

        ours += BURST_LAWS
    answers = [law.answer_over_range(scenario) for law in ours]
    known = [a for a in answers if a.packets is not None or a.utilization is not None]
    return known + _answers_of_others(scenario)


def _answers_of_others(scenario: Scenario) -> list[LawAnswer]:
    """Answers of laws of other distributions; one that fails says so, and the others stay."""
    entries = sorted(plugins.found(__name__))
    if not entries:
        return []
    from forebay.laws.registry import LAWS, answer_of

    answers, taken = [], {law.name for law in LAWS}
    for name, law in zip(entries, of_others(), strict=True):
        answer = answer_of(name, law, scenario, taken)
        if answer is not None:
            taken.add(answer.law)
            answers.append(answer)
    return answers


# Formulas without a `LAW`, laws of bursts, and what only theory needs: imported at first use.
_MODULES = (
    "burst_law bursts completion_time desynchronized effective_bandwidth finite_queue "
    "fractional_brownian partial_synchrony response sawtooth short_flows tcp_and_link tiny_buffers "
    "uncertainty"
)
_HOLDERS = dict.fromkeys(_MODULES.split(), "") | {"BURST_LAWS": "registry", "LAWS": "registry"}
__getattr__ = attributes(__name__, _HOLDERS)
