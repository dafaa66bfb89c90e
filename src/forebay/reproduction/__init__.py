"""Reproductions of the papers' tables and figures, compared with the published values.

>>> import forebay
>>> made = forebay.reproduce("appenzeller-2004/eq6")
>>> made.agrees
True

Artefacts are written with the names of this package: rows and checks, claims with a band, and the
testbed's recorded runs.
"""

from forebay.effort import Effort
from forebay.progress import Progress
from forebay.reproduction.claims import judge, side_by_side
from forebay.reproduction.discovery import (
    ArtefactUnavailable,
    Entry,
    UnknownArtefact,
    artefacts,
    choose,
    entries,
    find,
    full_name,
)
from forebay.reproduction.measured import (
    Cell,
    GateFailed,
    Measured,
    Metric,
    facts,
    over_runs,
    record,
)
from forebay.reproduction.result import (
    FORMULA,
    KERNEL,
    OTHERS,
    OURS,
    SIMULATION,
    UNEXPLAINED,
    CachedResult,
    Check,
    Ours,
    Reproduction,
    Variants,
    from_document,
    row_name,
)
from forebay.reproduction.running import (
    QUICK_SEEDS,
    SEEDS,
    Cache,
    default_store,
    digest,
    make,
    replications,
    reproduce,
)
from forebay.reproduction.table import (
    Count,
    by_cause,
    causes_in_words,
    count,
    in_words,
    print_reproduction,
)
from forebay.reproduction.work import (
    LINK,
    Artefact,
    MeasuredArtefact,
    Work,
    artefact,
    bars,
    chart,
    farthest,
    mean_queue,
    need,
    value,
)

__all__ = [
    "FORMULA",
    "KERNEL",
    "LINK",
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
    "Effort",
    "Entry",
    "GateFailed",
    "Measured",
    "MeasuredArtefact",
    "Metric",
    "Ours",
    "Progress",
    "Reproduction",
    "UnknownArtefact",
    "Variants",
    "Work",
    "artefact",
    "artefacts",
    "bars",
    "by_cause",
    "causes_in_words",
    "chart",
    "choose",
    "count",
    "default_store",
    "digest",
    "entries",
    "facts",
    "farthest",
    "find",
    "from_document",
    "full_name",
    "in_words",
    "judge",
    "make",
    "mean_queue",
    "need",
    "over_runs",
    "print_reproduction",
    "record",
    "replications",
    "reproduce",
    "row_name",
    "side_by_side",
    "value",
]
