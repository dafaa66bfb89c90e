"""One record for each congestion control, queue discipline, traffic kind and metric.

All other code reads what it needs to know about them from these records. A record has no function:
it names a law, a response function or a scaling rule, which the layer that has it registers
under that name.
"""

from forebay.catalogue.controls import CONTROLS, Control, is_ours
from forebay.catalogue.disciplines import DISCIPLINES, Discipline
from forebay.catalogue.kinds import KINDS, Kind, kinds_that
from forebay.catalogue.metrics import METRICS, Metric, check_stated, of_level
from forebay.catalogue.record import IncompleteRecord, Record, registered

__all__ = [
    "CONTROLS", "DISCIPLINES", "KINDS", "METRICS", "Control", "Discipline", "IncompleteRecord",
    "Kind", "Metric", "Record", "check_stated", "is_ours", "kinds_that", "of_level", "registered",
]  # fmt: skip
