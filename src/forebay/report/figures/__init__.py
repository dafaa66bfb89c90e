"""Pictures by matplotlib, drawn without a screen; the import takes half a second.

Raises MissingPackage at import where matplotlib is not installed.
"""

# ruff: noqa: E402
from forebay.packages import import_package

import_package("a figure", "matplotlib")  # the modules below import it

from forebay.report.figures.outcome import can_draw, draw_flows, flows_figure
from forebay.report.figures.measurement import draw_measurement
from forebay.report.figures.outcome import (
    draw_network,
    outcome_figure,
    trace_figure,
    transient_figure,
)
from forebay.report.figures.size import size_figure
from forebay.report.figures.study import sensitivity_figure, uncertain_figure
from forebay.report.figures.style import save

__all__ = [
    "can_draw",
    "draw_flows",
    "draw_measurement",
    "draw_network",
    "flows_figure",
    "outcome_figure",
    "save",
    "sensitivity_figure",
    "size_figure",
    "trace_figure",
    "transient_figure",
    "uncertain_figure",
]
