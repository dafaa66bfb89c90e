"""What a mix of flows has in common: one characteristic value, and one number of flows."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws.arrays import Array, as_array
from forebay.laws.heterogeneous.protocols import PROTOCOLS, TABLE_3_AS_PRINTED

_WITHOUT = {
    "bbr": "its rate is paced from a bandwidth estimate, so no sawtooth of a window describes it"
}


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
    w_max : packets, and rtt : seconds, arrays that broadcast. Only "cubic" and "compound" depend
        on them, and need them.
    as_printed : Table III's own figures, for the five protocols of paper D. Two of them are not
        what Table II's growth functions give: BIC (0.0241, right 0.0340), CTCP (0.19, 0.198).

    Raises
    ------
    ValueError
        No such protocol, or one without a sawtooth; or w_max and rtt are missing.
    """
    if as_printed and protocol in TABLE_3_AS_PRINTED:
        return as_array(TABLE_3_AS_PRINTED[protocol][1])[()]
    if protocol not in PROTOCOLS or as_printed:
        known = ", ".join(TABLE_3_AS_PRINTED if as_printed else PROTOCOLS)
        why = _WITHOUT.get(protocol, "no growth function is known for it")
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

    Counts or shares: only their ratio matters. The paper takes equal mean windows.
    """
    total = squares = as_array(0.0)
    for protocol, count in flows.items():
        value = characteristic_value(protocol, w_max, rtt, as_printed=as_printed)
        total = total + as_array(count)
        squares = squares + as_array(count) * value**2
    return np.sqrt(squares / total)


def effective_flows(windows: ArrayLike, axis: int = -1) -> Array:
    """n_eff = (sum w)^2 / sum w^2: the n of equal flows that vary as much (ours, no paper's).

    `windows` are mean windows of flows that rise and fall independently, along `axis`. With equal
    characteristic values a, the deviation of the sum is a sqrt(sum w^2), its mean sum w, so
    deviation over mean is a / sqrt(n_eff) and every law here holds with n_eff in place of n.
    Verified by that derivation and by sampling sawtooths. n_eff <= n, and n for equal windows.
    """
    each = as_array(windows)
    return as_array(each.sum(axis=axis)) ** 2 / as_array((each**2).sum(axis=axis))


def uneven(values: ArrayLike, windows: ArrayLike, axis: int = -1) -> Array:
    """a of flows with unequal windows and characteristic values, for use with n_eff (ours).

    sqrt(sum (a_i w_i)^2 / sum w_i^2), so that a / sqrt(n_eff) is deviation over mean of the sum.
    """
    each = as_array(windows)
    squares = as_array(((as_array(values) * each) ** 2).sum(axis=axis))
    return np.sqrt(squares / as_array((each**2).sum(axis=axis)))


def sawtooth_value(beta: ArrayLike) -> Array:
    """a of a window uniform between beta W and W: (1 - beta) / (sqrt(3) (1 + beta)).

    The spread of any linear growth, derived from the uniform distribution: 0.1925 at one half
    (Table III, RENO), 0.1019 at 0.7.
    """
    kept = as_array(beta)
    return (1.0 - kept) / (math.sqrt(3.0) * (1.0 + kept))
