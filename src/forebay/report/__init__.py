"""Tables and pictures, made from Outcomes and from the documents of the contract only.

Nothing is computed here that an engine or a sizing did not say; `forebay.report.figures`
is imported on its own, for it costs half a second.
"""

from forebay.report.answer import Answer
from forebay.report.comparison import print_comparison
from forebay.report.measurement import print_measurement
from forebay.report.network import print_network
from forebay.report.numbers import percent, scaled
from forebay.report.outcome import print_outcome
from forebay.report.picture import Line, Panel, Picture
from forebay.report.size import print_size
from forebay.report.trace import print_trace

__all__ = [
    "Answer",
    "Line",
    "Panel",
    "Picture",
    "percent",
    "print_comparison",
    "print_measurement",
    "print_network",
    "print_outcome",
    "print_size",
    "print_trace",
    "scaled",
]
