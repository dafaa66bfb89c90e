"""What can be said of a link in the time that there is."""

from forebay.budget.errors import TooLittleTime
from forebay.budget.run import fitted, predict_run
from forebay.budget.size import size_within
from forebay.budget.store import Remembering

__all__ = ["Remembering", "TooLittleTime", "fitted", "predict_run", "size_within"]
