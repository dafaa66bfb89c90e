"""Sizes, rates and times in tc's notation, which differs from the usual one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

_NUMBER = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,9}))?([A-Za-z]{0,6})")
_SIZES: dict[str, int | Fraction] = {
    "": 1, "b": 1, "k": 2**10, "kb": 2**10, "m": 2**20, "mb": 2**20, "g": 2**30, "gb": 2**30,
    "kbit": Fraction(2**10, 8), "mbit": Fraction(2**20, 8), "gbit": Fraction(2**30, 8),
}  # fmt: skip
_RATES = {
    "": 1, "bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9, "tbit": 10**12,
    "kibit": 2**10, "mibit": 2**20, "gibit": 2**30, "tibit": 2**40,
    "bps": 8, "kbps": 8 * 10**3, "mbps": 8 * 10**6, "gbps": 8 * 10**9, "tbps": 8 * 10**12,
    "kibps": 8 * 2**10, "mibps": 8 * 2**20, "gibps": 8 * 2**30, "tibps": 8 * 2**40,
}  # fmt: skip
_TIMES = {
    "": Fraction(1, 10**6), "us": Fraction(1, 10**6), "usec": Fraction(1, 10**6),
    "usecs": Fraction(1, 10**6), "ms": Fraction(1, 1000), "msec": Fraction(1, 1000),
    "msecs": Fraction(1, 1000), "s": Fraction(1), "sec": Fraction(1), "secs": Fraction(1),
    "ns": Fraction(1, 10**9), "nsec": Fraction(1, 10**9), "nsecs": Fraction(1, 10**9),
}  # fmt: skip


def size(text: str) -> int | None:
    """Return bytes; tc's k, m and g are powers of 1024."""
    amount = _amount(text, _SIZES)
    return None if amount is None else int(amount)


def rate(text: str) -> Fraction | None:
    """Return bit/s; in tc "bps" means bytes per second."""
    return _amount(text, _RATES)


def time(text: str) -> Fraction | None:
    """Return seconds; a bare number is microseconds."""
    return _amount(text, _TIMES)


def _amount(text: str, units: Mapping[str, int | Fraction]) -> Fraction | None:
    match = _NUMBER.fullmatch(text)
    if match is None or match[3].lower() not in units:
        return None
    whole, part, unit = match.groups()
    number = int(whole) + Fraction(int(part or 0), 10 ** len(part or ""))
    return number * units[unit.lower()]
