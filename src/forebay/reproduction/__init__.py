"""Reproductions of the papers' tables and figures, compared with the published values.

>>> import forebay
>>> made = forebay.reproduce("appenzeller-2004/eq6")
>>> made.agrees
True

Artefacts are written with the names of this package: rows and checks, claims with a band, and the
testbed's recorded runs.
"""

from forebay.reproduction.artefact import Artefact, MeasuredArtefact, Progress
from forebay.reproduction.cache import Cache, default_store, digest
from forebay.reproduction.claims import each_with, judge, shares, side_by_side
from forebay.reproduction.counting import Count, by_cause, causes_in_words, count, in_words
from forebay.reproduction.discovery import Entry, artefacts, choose, entries, find, full_name
from forebay.reproduction.document import CachedResult, from_document
from forebay.reproduction.errors import ArtefactUnavailable, UnknownArtefact
from forebay.reproduction.measured import Cell, GateFailed, Measured, Metric, facts, record
from forebay.reproduction.result import (
    FORMULA,
    KERNEL,
    OTHERS,
    OURS,
    SIMULATION,
    UNEXPLAINED,
    Check,
    Reproduction,
    row_name,
)
from forebay.reproduction.running import QUICK_SEEDS, SEEDS, make, replications, reproduce
from forebay.reproduction.table import print_reproduction
from forebay.reproduction.variants import Variants

__all__ = [
    "FORMULA",
    "KERNEL",
    "OTHERS",
    "OURS",
    "QUICK_SEEDS",
    "SEEDS",
    "SIMULATION",
    "UNEXPLAINED",
    "Artefact",
    "ArtefactUnavailable",
    "Cache",
    "CachedResult",
    "Cell",
    "Check",
    "Count",
    "Entry",
    "GateFailed",
    "Measured",
    "MeasuredArtefact",
    "Metric",
    "Progress",
    "Reproduction",
    "UnknownArtefact",
    "Variants",
    "artefacts",
    "by_cause",
    "causes_in_words",
    "choose",
    "count",
    "default_store",
    "digest",
    "each_with",
    "entries",
    "facts",
    "find",
    "from_document",
    "full_name",
    "in_words",
    "judge",
    "make",
    "print_reproduction",
    "record",
    "replications",
    "reproduce",
    "row_name",
    "shares",
    "side_by_side",
]
