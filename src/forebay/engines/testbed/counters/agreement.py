"""Comparison of independent counters with the router's own, for the same packets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forebay.engines.testbed.counters.window_clock import Counted


def agreement(
    router: Counted, others: Mapping[str, Counted], rate_bps: float | None
) -> dict[str, Any]:
    """Return each count, and its difference from the router's.

    Parameters
    ----------
    router : Counted
        Packets that the receivers' device accepted in the window.
    others : mapping
        The same by other counters, over nearly the same time: rates are compared.
    rate_bps : float, optional
        Rate of the link, bit/s, if the device is behind only one; without it there is no
        utilization (octets × 8 / rate / time).
    """
    rates = {"router": _rate(router, rate_bps)}
    for name, counted in others.items():
        rates[name] = _rate(counted, rate_bps) | {
            "octets_off_percent": off_percent(counted.octets, counted, router.octets, router),
            "packets_off_percent": off_percent(counted.packets, counted, router.packets, router),
        }
    return rates


def off_percent(count: int, of: Counted, reference: int, router: Counted) -> float | None:
    """Return the difference of two counts per second, in per cent of the reference, or None."""
    if not reference:
        return None
    return 100 * (count / of.span_s / (reference / router.span_s) - 1)


def _rate(counted: Counted, rate_bps: float | None) -> dict[str, Any]:
    used = None if rate_bps is None else counted.octets * 8 / rate_bps / counted.span_s
    read = {name: value for name, value in counted._asdict().items() if value is not None}
    return read | {"utilization": used}
