"""What can be said of a link in the time that there is."""

from forebay.budget.errors import TooLittleTime
from forebay.budget.size import size_within

__all__ = ["TooLittleTime", "size_within"]
