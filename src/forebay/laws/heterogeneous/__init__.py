"""Many flows of many protocols on one link: all of Yang, Zhang, Xu 2013 ("paper D").

Results are correct by default; `as_printed=True` gives the paper's own figures.

The smallest buffer under constraints on utilization and drops (paper D, §IV, V, VII.A).

A mix of flows is reduced to one characteristic value a and one number of flows n. The sum W of n
windows is normal with mean mu and deviation a mu / sqrt(n) (eq. 6). Buffers are in the unit of
`bdp`. `tau` is the probability of W >= BDP, `rho` that of a drop rate of at most `phi`. Arguments
broadcast.

`as_printed` uses the paper's z. It is for the probability 2 tau - 1 instead of tau, to the two
decimals of a table: 2.05 instead of 2.326 at 0.99. One-sided events need P(Z <= z) = tau.

All sizes are lower bounds: eq. 9 allows a mean of W up to BDP + B, a full buffer.

What the other goals keep if a delay bound allows a smaller buffer than they need is §VII.B: delay
lambda on a link of capacity C allows a buffer of C lambda.
"""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from forebay.catalogue import CONTROLS, registered
from forebay.laws import arrays, assumptions
from forebay.laws.arrays import Array, as_array
from forebay.laws.heterogeneous.protocols import (
    EPOCH_AS_PRINTED as EPOCH_AS_PRINTED, OF_PAPER_D_ALONE, PAPER_D as PAPER_D,
    PROTOCOLS as PROTOCOLS, TABLE_3_AS_PRINTED as TABLE_3_AS_PRINTED, Growth as Growth,
)  # fmt: skip
from forebay.laws.law import Law
from forebay.laws.quantities import finite, flows_by_control, path_window
from forebay.scenario import Scenario
from forebay.words import Fact

_GROWTHS = registered(
    CONTROLS,
    lambda control: control.growth,
    {name: law for name, law in PROTOCOLS.items() if name not in OF_PAPER_D_ALONE},
    "forebay.laws.heterogeneous.protocols",
)
"""Growth functions by the name of a congestion control."""


def characteristic_value(
    protocol: str,
    w_max: ArrayLike | None = None,
    rtt: ArrayLike | None = None,
    *,
    as_printed: bool = False,
) -> Array:
    """a of one protocol: standard deviation of its window over its mean (paper D, Table III).

    Parameters
    ----------
    protocol : a name in `PROTOCOLS`.
    w_max : packets, and rtt : seconds, arrays that broadcast. Only "cubic" and "compound" need
        them.
    as_printed : Table III's own figures, for the five protocols of paper D. Two of them differ
        from Table II's growth functions: BIC (0.0241 instead of 0.0340), CTCP (0.19, 0.198).

    Raises ValueError for no such protocol, or one without a sawtooth; or if w_max and rtt are
    missing.
    """
    if as_printed and protocol in TABLE_3_AS_PRINTED:
        return as_array(TABLE_3_AS_PRINTED[protocol][1])[()]
    if protocol not in PROTOCOLS or as_printed:
        known = ", ".join(TABLE_3_AS_PRINTED if as_printed else PROTOCOLS)
        modelled = protocol in CONTROLS and CONTROLS[protocol].is_model_based
        why = "no growth function is known for it"
        if modelled:
            why = "its rate is paced from a bandwidth estimate, "
            why += "so no sawtooth of a window describes it"
        raise ValueError(f"protocol {protocol!r}: {why}; write one of: {known}")
    growth = PROTOCOLS[protocol]
    if not growth.scale_free and (w_max is None or rtt is None):
        raise ValueError(f"protocol {protocol!r}: it depends on window and RTT; give w_max and rtt")
    return growth.characteristic_value(1.0 if w_max is None else w_max, 1.0 if rtt is None else rtt)


def mixed(
    flows: Mapping[str, ArrayLike],
    w_max: ArrayLike | None = None,
    rtt: ArrayLike | None = None,
    *,
    as_printed: bool = False,
) -> Array:
    """a of a mix, sqrt of the mean of a_i^2 over the flows (eq. 6); `flows` by protocol.

    These are counts or shares; only their ratio matters. The paper assumes equal mean windows.
    """
    total = squares = as_array(0.0)
    for protocol, count in flows.items():
        value = characteristic_value(protocol, w_max, rtt, as_printed=as_printed)
        total = total + as_array(count)
        squares = squares + as_array(count) * value**2
    return np.sqrt(squares / total)


def effective_flows(windows: ArrayLike, axis: int = -1) -> Array:
    """n_eff = (sum w)^2 / sum w^2: number of equal flows with the same variation (not of a paper).

    `windows` are mean windows of flows that rise and fall independently, along `axis`. With equal
    characteristic values a, the deviation of the sum is a sqrt(sum w^2), its mean sum w, so
    deviation over mean is a / sqrt(n_eff) and every law here holds with n_eff in place of n.
    Verified by that derivation and by sampling sawtooths. n_eff <= n, and n for equal windows.
    """
    w = as_array(windows)
    return as_array(w.sum(axis=axis)) ** 2 / as_array((w**2).sum(axis=axis))


def uneven(values: ArrayLike, windows: ArrayLike, axis: int = -1) -> Array:
    """a of flows with unequal windows and characteristic values, for n_eff (not of a paper).

    sqrt(sum (a_i w_i)^2 / sum w_i^2), so that a / sqrt(n_eff) is deviation over mean of the sum.
    """
    w = as_array(windows)
    squares = as_array(((as_array(values) * w) ** 2).sum(axis=axis))
    return np.sqrt(squares / as_array((w**2).sum(axis=axis)))


def sawtooth_value(beta: ArrayLike) -> Array:
    """a of a window uniform between beta W and W: (1 - beta) / (sqrt(3) (1 + beta)).

    It is that of any linear growth, derived from the uniform distribution: 0.1925 for beta = 1/2
    (Table III, RENO), 0.1019 for 0.7.
    """
    kept = as_array(beta)
    return (1.0 - kept) / (math.sqrt(3.0) * (1.0 + kept))


def z_score(probability: ArrayLike, *, as_printed: bool = False) -> Array:
    """z with P(Z <= z) = `probability` for a standard normal Z (below eq. 1)."""
    if not as_printed:
        return arrays.quantile(probability)
    return np.round(arrays.quantile(2.0 * as_array(probability) - 1.0), 2)


def probability(z: ArrayLike, *, as_printed: bool = False) -> Array:
    """Inverse of `z_score` (without its rounding)."""
    below = (1.0 + arrays.erf(as_array(z) / np.sqrt(2.0))) / 2.0
    return (1.0 + below) / 2.0 if as_printed else below


def aggregate_deviation(mean: ArrayLike, a: ArrayLike, n: ArrayLike) -> Array:
    """Standard deviation of the sum of the windows, a mu / sqrt(n) (eq. 6)."""
    return as_array(a) / np.sqrt(as_array(n)) * as_array(mean)


def mean_needed(
    deviation: ArrayLike, bdp: ArrayLike, tau: ArrayLike, *, as_printed: bool = False
) -> Array:
    """Smallest mean of W with P(W >= BDP) >= tau (Theorem 1, eq. 1)."""
    return z_score(tau, as_printed=as_printed) * as_array(deviation) + as_array(bdp)


def mean_of_mix(
    bdp: ArrayLike, a: ArrayLike, n: ArrayLike, tau: ArrayLike, *, as_printed: bool = False
) -> Array:
    """Smallest mean of W if its deviation grows with it (eq. 8); infinite if there is none."""
    rest = 1.0 - _spread(a, n, tau, as_printed)
    with np.errstate(divide="ignore"):
        return np.where(rest > 0.0, as_array(bdp) / np.maximum(rest, 0.0), np.inf)[()]


def for_utilization(
    bdp: ArrayLike, a: ArrayLike, n: ArrayLike, tau: ArrayLike, *, as_printed: bool = False
) -> Array:
    """Smallest buffer with P(W >= BDP) >= tau (Theorem 2, eq. 7).

    Infinite if z a / sqrt(n) >= 1: with few flows and large a, the deviation grows faster than the
    buffer. At least zero, which matters for tau below one half.
    """
    return np.maximum(mean_of_mix(bdp, a, n, tau, as_printed=as_printed) - as_array(bdp), 0.0)


def probability_of_full_link(
    buffer: ArrayLike, bdp: ArrayLike, a: ArrayLike, n: ArrayLike, *, as_printed: bool = False
) -> Array:
    """tau for a buffer: the inverse of eq. 7, with mean BDP + B (eq. 9)."""
    size = as_array(buffer)
    z = np.sqrt(as_array(n)) / as_array(a) * size / (as_array(bdp) + size)
    return probability(z, as_printed=as_printed)


def for_drops(
    bdp: ArrayLike,
    a: ArrayLike,
    n: ArrayLike,
    mean: ArrayLike,
    phi: ArrayLike,
    rho: ArrayLike,
    *,
    as_printed: bool = False,
) -> Array:
    """Smallest buffer with P(W <= BDP + B + phi W) >= rho at a given mean (Theorem 3, eq. 11).

    Zero if none is needed.
    """
    held = _overshoot(a, n, phi, rho, as_printed) * as_array(mean)
    return np.maximum(held - as_array(bdp), 0.0)


def drops_hold_for_any_buffer(
    a: ArrayLike, n: ArrayLike, phi: ArrayLike, rho: ArrayLike, *, as_printed: bool = False
) -> np.bool_ | np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Whether the constraint on drops needs no buffer by itself (inequality 12)."""
    return _overshoot(a, n, phi, rho, as_printed) <= 1.0


def flows_for_drops(
    a: ArrayLike, phi: ArrayLike, rho: ArrayLike, *, as_printed: bool = False
) -> Array:
    """Smallest number of flows for inequality 12, not rounded: (z a (1 - phi) / phi)^2."""
    allowed = as_array(phi)
    return (z_score(rho, as_printed=as_printed) * as_array(a) * (1.0 - allowed) / allowed) ** 2


def drop_rate_of_any_buffer(
    a: ArrayLike, n: ArrayLike, rho: ArrayLike, *, as_printed: bool = False
) -> Array:
    """Smallest phi that satisfies inequality 12: the curves of Figure 5."""
    spread = _spread(a, n, rho, as_printed)
    return spread / (1.0 + spread)


def for_utilization_and_drops(
    bdp: ArrayLike,
    a: ArrayLike,
    n: ArrayLike,
    tau: ArrayLike,
    phi: ArrayLike,
    rho: ArrayLike,
    *,
    as_printed: bool = False,
) -> Array:
    """Smallest buffer for both constraints (inequality 14).

    The paper prints z_rho in the denominator 1 - z a / sqrt(n). That factor is the mean of eq. 8,
    which the utilization determines: z_tau. Both agree for tau = rho. `as_printed` uses z_rho.
    """
    mean = mean_of_mix(bdp, a, n, rho if as_printed else tau, as_printed=as_printed)
    alone = for_utilization(bdp, a, n, rho if as_printed else tau, as_printed=as_printed)
    return np.maximum(alone, for_drops(bdp, a, n, mean, phi, rho, as_printed=as_printed))


def increase_for_drops(
    a: ArrayLike,
    n: ArrayLike,
    tau: ArrayLike,
    phi: ArrayLike,
    rho: ArrayLike,
    *,
    as_printed: bool = False,
) -> Array:
    """Relative increase of the buffer from eq. 7 to inequality 14, at least zero (Figure 6)."""
    alone = for_utilization(1.0, a, n, tau, as_printed=as_printed)
    both = for_utilization_and_drops(1.0, a, n, tau, phi, rho, as_printed=as_printed)
    return both / alone - 1.0


def _spread(a: ArrayLike, n: ArrayLike, probability: ArrayLike, as_printed: bool) -> Array:
    """z a / sqrt(n)."""
    return z_score(probability, as_printed=as_printed) * as_array(a) / np.sqrt(as_array(n))


def _overshoot(
    a: ArrayLike, n: ArrayLike, phi: ArrayLike, rho: ArrayLike, as_printed: bool
) -> Array:
    """Left side of inequality 12."""
    return (_spread(a, n, rho, as_printed) + 1.0) * (1.0 - as_array(phi))


DROPS_HOLD_WITH = 0.99
"""Default rho for a loss goal without a probability: the paper's value."""


def _value(scenario: Scenario) -> float | None:
    """a of the scenario's mix; None if a protocol has no growth function.

    w_max is estimated as the path's window / 0.9, the mean share of the peak of the two protocols
    whose a depends on w_max. The dependence is weak.
    """
    flows = flows_by_control(scenario)
    if not flows.keys() <= _GROWTHS.keys():
        return None
    return float(mixed(flows, path_window(scenario) / 0.9, float(scenario.mean_rtt)))


def _packets(scenario: Scenario) -> float | None:
    a, used, phi = _value(scenario), scenario.goals.utilization, scenario.goals.loss_rate
    if a is None or used is None:
        return None
    tau = used if used.probability is None else used.probability
    bdp, n = scenario.bdp_packets, scenario.n_flows
    if phi is None:
        return finite(for_utilization(bdp, a, n, tau))
    rho = DROPS_HOLD_WITH if phi.probability is None else phi.probability
    return finite(for_utilization_and_drops(bdp, a, n, tau, phi, rho))


def _utilization(scenario: Scenario) -> float | None:
    a = _value(scenario)
    if a is None:
        return None
    buffer, bdp = scenario.buffer_packets, scenario.bdp_packets
    return float(probability_of_full_link(buffer, bdp, a, scenario.n_flows))


def _known_protocols(scenario: Scenario) -> Fact | None:
    unknown = ", ".join(sorted(flows_by_control(scenario).keys() - _GROWTHS.keys()))
    return Fact("broken.known-growth", controls=unknown) if unknown else None


LAW = Law(
    name="yang-2013/utilization",
    source="Yang, Zhang, Xu 2013, eq. 7, inequality 14, one-sided z (necessary, not sufficient)",
    packets=_packets,
    utilization=_utilization,
    checks=(
        assumptions.long_lived, assumptions.drop_tail, _known_protocols, assumptions.congested,
        assumptions.window_unlimited, assumptions.settled, assumptions.enough_flows,
        assumptions.window_above_two,
    ),
)  # fmt: skip


def sample_sum(
    protocol: str, n: int, draws: int, *, w_max: float = 1.0, rtt: float = 1.0, seed: int = 1
) -> Array:
    """W, the sum of `n` independent windows in packets, `draws` times over (shape (draws,)).

    Each flow is at a uniform time of its epoch; the normal distribution of paper D, §III is the
    limit for many flows. The same arguments give the same draws.
    """
    growth = PROTOCOLS[protocol]
    random = np.random.default_rng(np.random.SeedSequence([seed, n]))
    times = random.random((draws, n)) * growth.epoch(w_max, rtt)
    return as_array(growth.window(times, w_max, rtt).sum(axis=1))


def share_kept(allowed: ArrayLike, needed: ArrayLike, bdp: ArrayLike) -> Array:
    """gamma = (BDP + allowed) / (BDP + needed), at most 1 (above eq. 16)."""
    product = as_array(bdp)
    return np.minimum((product + as_array(allowed)) / (product + as_array(needed)), 1.0)


def z_kept(
    gamma: ArrayLike, a: ArrayLike, n: ArrayLike, tau: ArrayLike, *, as_printed: bool = False
) -> Array:
    """z with the share `gamma` of BDP + B (inequality 18).

    An upper bound, although Figure 7's caption calls it a lower one. Zero without a buffer.
    """
    kept = as_array(gamma)
    z = z_score(tau, as_printed=as_printed)
    return z / kept - (1.0 / kept - 1.0) * np.sqrt(as_array(n)) / as_array(a)


def probability_kept(
    gamma: ArrayLike, a: ArrayLike, n: ArrayLike, tau: ArrayLike, *, as_printed: bool = False
) -> Array:
    """q: the probability of a full link, reduced from `tau` by `gamma` (below inequality 18)."""
    return probability(z_kept(gamma, a, n, tau, as_printed=as_printed), as_printed=as_printed)


def reduction_at_zero_delay(tau: ArrayLike, *, as_printed: bool = False) -> Array:
    """tau - q without a buffer; q is then one half for any tau.

    The paper uses q = 0.75 for z = 0, a reduction of 0.24 from 0.99; P(W >= BDP) at z = 0 is 0.5.
    """
    return as_array(tau) - probability(0.0, as_printed=as_printed)


def drop_rate_added(allowed: ArrayLike, needed: ArrayLike, bdp: ArrayLike) -> Array:
    """Smallest increase of the drop rate by a buffer of `allowed` only (inequality 19)."""
    missing = np.maximum(as_array(needed) - as_array(allowed), 0.0)
    return missing / (as_array(bdp) + as_array(needed))
