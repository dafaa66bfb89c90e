"""Shares of a whole, as a list."""

from __future__ import annotations

from math import fsum

from forebay.scenario.errors import ScenarioError, show


def parse_shares(value: object, count: int) -> tuple[float, ...]:
    """Return ``count`` shares that sum to 1; equal ones if none are given. Raises ScenarioError."""
    if value is None:
        return (1.0 / count,) * count
    hint = f"write {count} numbers above 0 that sum to 1"
    if not isinstance(value, list | tuple) or len(value) != count:
        wrong = f"{show(value)} is not a share for each value"
        raise ScenarioError("wrong-type", wrong, hint, field="shares")
    for index, share in enumerate(value):
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
            wrong = f"{show(share)} is not a share"
            raise ScenarioError("out-of-range", wrong, hint, field=f"shares.{index}")
    if abs(fsum(value) - 1) > 1e-9:
        wrong = f"the shares sum to {fsum(value):g}"
        raise ScenarioError("out-of-range", wrong, hint, field="shares")
    return tuple(float(share) for share in value)
