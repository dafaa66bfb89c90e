"""Tables and pictures, made from Outcomes and from the documents of the contract only.

Nothing is computed here that an engine or a sizing did not say; `forebay.report.figures`
is imported on its own, for it costs half a second.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forebay.outcome import Comparison
    from forebay.report.claims import each_with, judge, shares, side_by_side
    from forebay.report.comparison import print_comparison
    from forebay.report.counting import Count, count, in_words
    from forebay.report.documents import draw_answer, print_answer, read_answer
    from forebay.report.loose import beside, load_file
    from forebay.report.measurement import print_measurement
    from forebay.report.network import print_network
    from forebay.report.numbers import percent, scaled
    from forebay.report.outcome import print_outcome
    from forebay.report.picture import Line, Panel, Picture
    from forebay.report.reproduction import (
        FORMULA,
        KERNEL,
        OURS,
        SIMULATION,
        Check,
        Reproduction,
        print_reproduction,
        row_name,
    )
    from forebay.report.size import print_size
    from forebay.report.stored import Kept, from_document, write_document
    from forebay.report.trace import print_trace
    from forebay.report.variants import Variants

__all__ = [
    "FORMULA",
    "KERNEL",
    "OURS",
    "SIMULATION",
    "Check",
    "Comparison",
    "Count",
    "Kept",
    "Line",
    "Panel",
    "Picture",
    "Reproduction",
    "Variants",
    "beside",
    "count",
    "draw_answer",
    "each_with",
    "from_document",
    "in_words",
    "judge",
    "load_file",
    "percent",
    "print_answer",
    "print_comparison",
    "print_measurement",
    "print_network",
    "print_outcome",
    "print_reproduction",
    "print_size",
    "print_trace",
    "read_answer",
    "row_name",
    "scaled",
    "shares",
    "side_by_side",
    "write_document",
]

# Who holds each name. A file is read when something of it is asked for.
_HOLDERS = {
    "Check": "reproduction",
    "Comparison": "documents",
    "draw_answer": "documents",
    "print_answer": "documents",
    "read_answer": "documents",
    "Count": "counting",
    "FORMULA": "reproduction",
    "KERNEL": "reproduction",
    "Kept": "stored",
    "Line": "picture",
    "OURS": "reproduction",
    "Panel": "picture",
    "Picture": "picture",
    "Reproduction": "reproduction",
    "SIMULATION": "reproduction",
    "Variants": "variants",
    "beside": "loose",
    "count": "counting",
    "each_with": "claims",
    "from_document": "stored",
    "in_words": "counting",
    "judge": "claims",
    "load_file": "loose",
    "percent": "numbers",
    "print_comparison": "comparison",
    "print_measurement": "measurement",
    "print_network": "network",
    "print_outcome": "outcome",
    "print_reproduction": "reproduction",
    "print_size": "size",
    "print_trace": "trace",
    "row_name": "reproduction",
    "scaled": "numbers",
    "shares": "claims",
    "side_by_side": "claims",
    "write_document": "stored",
}


def __getattr__(name: str) -> Any:
    if name not in _HOLDERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_HOLDERS[name]}"), name)
    globals()[name] = value
    return value
