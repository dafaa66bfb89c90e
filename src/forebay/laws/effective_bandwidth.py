"""Tail of the queue under Poisson bursts, by effective bandwidth (paper A, §4 and appendix C).

    P(Q >= b) ~ (C - alpha(0)) / (kappa alpha'(kappa)) exp(-kappa b),   alpha(kappa) = C

with alpha to the second or third order of its series, or complete (eq. 11 to 13). Sizes and rates
are in packets and packet times, so C = 1 and alpha(0) = rho, the `load`, below one.
Lower orders neglect burstiness: the exponent decreases from the second to the third order to the
complete series. With the complete exponent, exp(-kappa b) alone bounds the tail (Lundberg).
"""

from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws.arrays import Array, as_array
from forebay.laws.bursts import Bursts, stable

_STEPS = 100


class Order(Enum):
    """Number of terms of the effective bandwidth's series."""

    SECOND = 2
    THIRD = 3
    FULL = 0


def alpha(s: ArrayLike, load: ArrayLike, bursts: Bursts) -> Array:
    """Effective bandwidth rho E[exp(s X) - 1] / (s E[X]), over C, for s > 0 (eq. 11)."""
    exponents = as_array(s)
    grown = np.expm1(exponents[..., None] * bursts.sizes) @ bursts.probabilities
    return as_array(load) * grown / (exponents * bursts.mean)


def kappa(load: ArrayLike, bursts: Bursts, order: Order = Order.FULL) -> Array:
    """Exponent of the tail, a packet; solves alpha(kappa) = C (eq. 12)."""
    rho = stable(load)
    if order is Order.SECOND:
        return 2.0 * (1.0 - rho) / rho * bursts.mean / bursts.moment(2)
    if order is Order.THIRD:
        middle = 1.5 * bursts.moment(2) / bursts.moment(3)
        last = 6.0 * (1.0 - rho) / rho * bursts.mean / bursts.moment(3)
        return last / (middle + np.sqrt(middle**2 + last))  # avoids cancellation
    return _solve(rho, bursts)


def prefactor(load: ArrayLike, bursts: Bursts, order: Order = Order.FULL) -> Array:
    """(C - alpha(0)) / (kappa alpha'(kappa)) (eq. 13).

    Exactly 1 at second order. There the paper prints a sum instead of the product in the
    denominator, and then the right result.
    """
    rho, exponent = stable(load), kappa(load, bursts, order)
    if order is Order.SECOND:
        return np.ones_like(rho)[()]
    if order is Order.THIRD:
        slope = exponent / 2.0 * bursts.moment(2) + exponent**2 / 3.0 * bursts.moment(3)
        return (1.0 - rho) / rho * bursts.mean / slope
    grown = np.exp(exponent[..., None] * bursts.sizes) @ (bursts.probabilities * bursts.sizes)
    return (1.0 - rho) / (rho * grown / bursts.mean - 1.0)


def tail(buffer: ArrayLike, load: ArrayLike, bursts: Bursts, order: Order = Order.SECOND) -> Array:
    """P(Q >= buffer) for an unlimited queue; the paper's §4 uses the second order."""
    exponent = kappa(load, bursts, order)
    return prefactor(load, bursts, order) * np.exp(-exponent * as_array(buffer))


def buffer_for(
    probability: ArrayLike, load: ArrayLike, bursts: Bursts, order: Order = Order.SECOND
) -> Array:
    """Buffer in packets that the queue reaches with `probability` at most."""
    excess = np.log(prefactor(load, bursts, order) / as_array(probability))
    return np.maximum(excess / kappa(load, bursts, order), 0.0)


def _solve(load: Array, bursts: Bursts) -> Array:
    """Newton's method on log(alpha / C), from above.

    Each (exp(s x) - 1) / s is the integral of exp(s u) over u, so log alpha is convex in s. The
    iteration starts at the third order's exponent, which is too large, and stays above the root.
    """
    root = kappa(load, bursts, Order.THIRD)
    for _ in range(_STEPS):
        step = _log_alpha_over_slope(root, load, bursts)
        root = root - step
        if np.all(np.abs(step) <= 1e-8 * root):  # convergence is quadratic, so this step suffices
            break
    return root


def _log_alpha_over_slope(s: Array, load: Array, bursts: Bursts) -> Array:
    """log(alpha) over its derivative, scaled by the largest exponential."""
    largest = bursts.sizes[-1]
    shrunk = np.exp(s[..., None] * (bursts.sizes - largest))
    gone = np.exp(-s * largest)
    grown = shrunk @ bursts.probabilities - gone
    log_alpha = s * largest + np.log(load * grown / (s * bursts.mean))
    slope = shrunk @ (bursts.probabilities * bursts.sizes) / grown - 1.0 / s
    return as_array(log_alpha / slope)[()]
