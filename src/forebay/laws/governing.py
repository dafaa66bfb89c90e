"""The law to believe first, as `forebay.laws.regime` decides it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.laws import burst_law, general_decrease, mix, single_flow, synchronized, utilization
from forebay.laws.regime import regime_of

if TYPE_CHECKING:
    from forebay.laws.answer import Law
    from forebay.scenario import Scenario

HEADLINES: dict[str, Law] = {
    law.name: law
    for law in (
        burst_law.LAW, single_flow.LAW, general_decrease.LAW, synchronized.LAW, utilization.LAW,
        mix.LAW,
    )
}  # fmt: skip
"""Laws that may govern, by name."""


def governing_law(scenario: Scenario) -> Law | None:
    """The law that `regime_of` names; None where no law of this room covers the link."""
    name = regime_of(scenario).law
    return None if name is None else HEADLINES[name]
