"""Reproductions of the papers' tables and figures, compared with the published values.

>>> import forebay
>>> made = forebay.reproduce("appenzeller-2004/eq6")
>>> made.agrees
True

Artefacts are written with the names of this package: rows and checks, claims with a band, and the
testbed's recorded runs.
"""

from forebay.effort import Effort as Effort
from forebay.outcome import Metric as Metric
from forebay.progress import Progress as Progress
from forebay.reproduction.measured import (
    Cell as Cell, GateFailed as GateFailed, Measured as Measured, facts as facts,
    over_runs as over_runs, record as record,
)  # fmt: skip
from forebay.reproduction.result import (
    FORMULA as FORMULA, KERNEL as KERNEL, OTHERS as OTHERS, OURS as OURS, SIMULATION as SIMULATION,
    UNEXPLAINED as UNEXPLAINED, CachedResult as CachedResult, Check as Check,
    Comparison as Comparison, Count as Count, Ours as Ours, Reproduction as Reproduction,
    Row as Row, Variants as Variants, by_cause as by_cause, causes_in_words as causes_in_words,
    count as count, from_document as from_document, in_words as in_words,
    print_reproduction as print_reproduction, row_name as row_name,
)  # fmt: skip
from forebay.reproduction.running import (
    QUICK_SEEDS as QUICK_SEEDS, SEEDS as SEEDS, ArtefactUnavailable as ArtefactUnavailable,
    Cache as Cache, Entry as Entry, UnknownArtefact as UnknownArtefact, artefacts as artefacts,
    choose as choose, default_store as default_store, digest as digest, entries as entries,
    find as find, full_name as full_name, make as make, replications as replications,
    reproduce as reproduce,
)  # fmt: skip
from forebay.reproduction.work import (
    LINK as LINK, Artefact as Artefact, MeasuredArtefact as MeasuredArtefact, Work as Work,
    artefact as artefact, bars as bars, chart as chart, farthest as farthest,
    mean_queue as mean_queue, need as need, value as value,
)  # fmt: skip
