"""What every table of a scenario file has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from forebay.scenario.bounds import Between
from forebay.scenario.quantity import Duration, Rate

RATES = Between(Rate(1e3), Rate(1e13))
MAX_FLOWS = 10_000_000
MAX_PACKETS = 20_000_000
"""Most packets of open-loop sources in one run: each is held in memory."""
MAX_PERIODS = 100_000_000
"""Most on times in one run: each takes some 100 ns to draw."""
DAY = Duration(86_400)


class Room(BaseModel):
    """A frozen table of a scenario file; unknown keys are refused."""

    # A base class, or a kind that no file asks for, never needs a validator of its own.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
