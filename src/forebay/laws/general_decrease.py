"""Utilization of a link by a single long flow, for any multiplicative decrease.

A loss at Wmax = BDP + B reduces the window to the share beta. The flow then sends at
beta (BDP + B) / BDP of the link's rate, until the window has grown. That is `lowest_utilization`.
The rule is from Spang, Arslan, McKeown 2021 ("Updating the theory of buffer sizing"). Only its
abstract was available, so the rule is derived here; it holds at one instant of a cycle. The mean
over a cycle is higher and depends on the growth of the window. `utilization` and
`cubic_utilization` integrate it, and agree with a fluid simulation (tests). Both are 1 for
B >= BDP (1/beta - 1).

Buffers are in the unit of `bdp`; arguments broadcast.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from forebay.catalogue import CONTROLS, registered
from forebay.laws import assumptions
from forebay.laws.arrays import Array, as_array
from forebay.laws.law import Law
from forebay.laws.quantities import flows_by_control
from forebay.scenario import Scenario
from forebay.words import Fact


def lowest_utilization(buffer: ArrayLike, bdp: ArrayLike, beta: ArrayLike) -> Array:
    """Utilization just after a decrease: min(beta (1 + B / BDP), 1)."""
    filled = 1.0 + as_array(buffer) / as_array(bdp)
    return np.minimum(as_array(beta) * filled, 1.0)


def buffer_for_lowest(target: ArrayLike, bdp: ArrayLike, beta: ArrayLike) -> Array:
    """Smallest buffer that keeps `lowest_utilization` at `target`, BDP (target / beta - 1)."""
    return as_array(bdp) * np.maximum(as_array(target) / as_array(beta) - 1.0, 0.0)


def utilization(
    buffer: ArrayLike, bdp: ArrayLike, beta: ArrayLike, exponent: ArrayLike = 0.0
) -> Array:
    """Mean utilization if the window's growth in a round trip is proportional to W^exponent.

    Exponent 0 is Reno's linear growth (the sawtooth of paper A, appendix B, for any beta), 3/4
    Compound, 1 Scalable. The factor of proportionality does not matter.
    """
    top = 1.0 + as_array(buffer) / as_array(bdp)
    low, power = as_array(beta) * top, as_array(exponent)
    full = np.maximum(low, 1.0)
    busy = _integral(1.0 - power, full, top)
    idle_from = np.minimum(low, 1.0)
    sent = busy + _integral(1.0 - power, idle_from, 1.0)
    return sent / (busy + _integral(-power, idle_from, 1.0))


def cubic_utilization(buffer: ArrayLike, bdp: ArrayLike, beta: ArrayLike = 0.7) -> Array:
    """Mean utilization with CUBIC's growth, a function of time and not of round trips.

    With u = remaining time / epoch length, W / Wmax = 1 - (1 - beta) u^3. The link is not full
    while u^3 > (1 - BDP / Wmax) / (1 - beta).
    """
    top, lost = 1.0 + as_array(buffer) / as_array(bdp), 1.0 - as_array(beta)
    full = np.minimum(np.cbrt((1.0 - 1.0 / top) / lost), 1.0)
    return full + top * ((1.0 - full) - lost * (1.0 - full**4) / 4.0)


def bbr1_lowest_utilization(buffer: ArrayLike, bdp: ArrayLike) -> Array:
    """Utilization by BBRv1 in the round trip in which it drains the queue: min(3/4 + B/BDP, 1).

    It is derived from the gains 5/4, 3/4 and six times 1 (Linux's tcp_bbr), each for a round trip,
    and an exact bandwidth estimate: the first leaves a queue of min(B, BDP / 4), the second sends
    3/4 BDP. The utilization is higher if the sender ends draining early, as it may.
    """
    return np.minimum(_LOWEST_OF_BBR + as_array(buffer) / as_array(bdp), 1.0)


def bbr1_utilization(buffer: ArrayLike, bdp: ArrayLike) -> Array:
    """Mean utilization by BBRv1 over its eight round trips; only the draining one is below 1."""
    return 1.0 - (1.0 - bbr1_lowest_utilization(buffer, bdp)) / 8.0


def _integral(power: Array, low: Array, high: ArrayLike) -> Array:
    """Integral of x^power from `low` to `high`."""
    raised = power + 1.0
    logarithm = np.log(as_array(high) / low)
    safe = np.where(raised == 0.0, 1.0, raised)
    return np.where(raised == 0.0, logarithm, (as_array(high) ** safe - low**safe) / safe)[()]


_LAWS: dict[str, Callable[[ArrayLike, ArrayLike], Array]] = {
    "reno": lambda b, bdp: utilization(b, bdp, 0.5),
    "cubic": lambda b, bdp: cubic_utilization(b, bdp, 0.7),
    "compound": lambda b, bdp: utilization(b, bdp, 0.5, 0.75),
    "scalable": lambda b, bdp: utilization(b, bdp, 0.875, 1.0),
    "bbr": bbr1_utilization,
}
_MEAN = registered(CONTROLS, lambda control: control.single_flow, _LAWS, __name__)
_LOWEST_OF_BBR = 0.75  # share of the BDP that is sent in the draining round trip


def _protocol(scenario: Scenario) -> str | None:
    """Return the scenario's protocol, if there is one and its law is known."""
    names = flows_by_control(scenario)
    name = next(iter(names)) if len(names) == 1 else ""
    return name if name in _MEAN else None


def covers(scenario: Scenario) -> bool:
    """Whether all flows use one protocol with a known sawtooth; BBR has none."""
    name = _protocol(scenario)
    return name is not None and not CONTROLS[name].is_model_based


def _packets(scenario: Scenario) -> float | None:
    name, target = _protocol(scenario), scenario.goals.utilization
    if name is None or target is None:
        return None
    kept = CONTROLS[name].kept_after_loss
    if kept is None:
        return scenario.bdp_packets * max(target - _LOWEST_OF_BBR, 0.0)
    return float(buffer_for_lowest(target, scenario.bdp_packets, kept))


def mean_utilization(scenario: Scenario) -> float | None:
    """Mean utilization with the scenario's protocol; None if its law is not known."""
    name = _protocol(scenario)
    if name is None:
        return None
    return float(_MEAN[name](scenario.buffer_packets, scenario.bdp_packets))


def _one_protocol(scenario: Scenario) -> Fact | None:
    names = ", ".join(sorted(flows_by_control(scenario)))
    return None if _protocol(scenario) else Fact("broken.one-protocol", controls=names)


LAW = Law(
    name="spang-2021/single-flow",
    source="rule of Spang, Arslan, McKeown 2021, derived here: the utilization at its lowest",
    packets=_packets,
    utilization=mean_utilization,
    checks=(
        assumptions.long_lived, assumptions.drop_tail, _one_protocol, assumptions.congested,
        assumptions.window_unlimited, assumptions.settled, assumptions.one_flow,
    ),
)  # fmt: skip
