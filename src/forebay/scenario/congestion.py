"""Which congestion controls a class of traffic runs, by their Linux names."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema

from forebay.scenario import exact_forms
from forebay.scenario.errors import ScenarioError, did_you_mean, one_of, show

CONGESTION_CONTROLS: tuple[str, ...] = (
    "reno",
    "scalable",
    "bic",
    "cubic",
    "cubic-beta-0.8",
    "cubic-beta-0.7",
    "compound",
    "dctcp",
    "bbr",
    "bbr3",
    "westwood",
    "prague",
)
"""Every name that a scenario may ask for; the simulator knows the same."""


def _parse(value: object) -> str | dict[str, float]:
    """Read one name, or a table of shares that sum to 1."""
    if isinstance(value, str):
        return _known(value)
    if not isinstance(value, Mapping):
        wrong = f"{show(value)} is not a congestion control"
        raise ScenarioError("wrong-type", wrong, f"write {one_of(CONGESTION_CONTROLS)}")
    shares = {_known(name): _share(name, share) for name, share in value.items()}
    if abs(fsum(shares.values()) - 1) > 1e-9:
        wrong = f"the shares sum to {fsum(shares.values()):g}"
        raise ScenarioError("out-of-range", wrong, "write shares that sum to 1", value=value)
    return next(iter(shares)) if len(shares) == 1 else shares


def _known(name: str) -> str:
    if name in CONGESTION_CONTROLS:
        return name
    wrong = (
        f"{show(name)} is not a known congestion control{did_you_mean(name, CONGESTION_CONTROLS)}"
    )
    raise ScenarioError("unknown-name", wrong, f"write {one_of(CONGESTION_CONTROLS)}", value=name)


def _share(name: str, share: object) -> float:
    if isinstance(share, int | float) and not isinstance(share, bool) and 0 < share <= 1:
        return float(share)
    wrong = f"{show(share)} is not a share"
    exact = exact_forms.fraction(share) or exact_forms.fraction_of_percent(share)
    hint = f"write {exact}" if exact else "write a number above 0, at most 1"
    raise ScenarioError("out-of-range", wrong, hint, field=name)


def _json_schema() -> dict[str, Any]:
    names: dict[str, Any] = {"type": "string", "enum": list(CONGESTION_CONTROLS)}
    share = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
    shares = {"type": "object", "propertyNames": names, "additionalProperties": share}
    return {"anyOf": [names, shares]}


CongestionControl = Annotated[
    str | dict[str, float], PlainValidator(_parse), WithJsonSchema(_json_schema())
]
