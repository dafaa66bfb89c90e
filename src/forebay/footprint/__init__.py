"""What a run takes of the machine's memory: estimated before it starts, watched while it runs."""

from forebay.footprint.errors import TooMuchMemory
from forebay.footprint.estimate import Estimate, estimate
from forebay.footprint.limit import Limit, default_limit

__all__ = ["Estimate", "Limit", "TooMuchMemory", "default_limit", "estimate"]
