"""Pictures by matplotlib, drawn without a screen; the import takes half a second.

Raises MissingPackage at import where matplotlib is not installed.
"""

# ruff: noqa: E402
from forebay.packages import import_package

import_package("a figure", "matplotlib")  # the modules below import it

from forebay.report.figures.measurement import draw_measurement as draw_measurement
from forebay.report.figures.outcome import (
    can_draw as can_draw, draw_flows as draw_flows, draw_network as draw_network,
    flows_figure as flows_figure, outcome_figure as outcome_figure, trace_figure as trace_figure,
    transient_figure as transient_figure,
)  # fmt: skip
from forebay.report.figures.size import size_figure as size_figure
from forebay.report.figures.study import (
    sensitivity_figure as sensitivity_figure, uncertain_figure as uncertain_figure,
)  # fmt: skip
from forebay.report.figures.style import save as save
