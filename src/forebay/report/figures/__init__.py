"""Pictures by matplotlib, drawn without a screen; importing this costs half a second."""

from forebay.report.figures.measurement import draw_measurement
from forebay.report.figures.size import draw_size
from forebay.report.figures.trace import draw_trace

__all__ = ["draw_measurement", "draw_size", "draw_trace"]
