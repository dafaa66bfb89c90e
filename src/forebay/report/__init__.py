"""Tables and pictures, made only from Outcomes and from the documents of the contract.

A report computes nothing that an engine or a sizing did not return. `forebay.report.figures`
is imported separately, because its import takes half a second.
"""

from typing import TYPE_CHECKING

from forebay.packages import attributes

if TYPE_CHECKING:
    from forebay.outcome import Comparison
    from forebay.outcome.study import StudyTable
    from forebay.report import figures
    from forebay.report.documents import (
        draw_answer,
        print_answer,
        print_comparison,
        read_answer,
        read_file,
    )
    from forebay.report.measurement import print_judgement, print_measurement
    from forebay.report.network import print_designs, print_failures, print_network
    from forebay.report.outcome import print_outcome
    from forebay.report.page import measurement_page, size_page
    from forebay.report.picture import Line, Panel, Picture
    from forebay.report.ports import print_class_queues, print_ports
    from forebay.report.size import print_size
    from forebay.report.study import print_study
    from forebay.report.tables import percent
    from forebay.report.trace import print_trace, print_transient

__all__ = [
    "Comparison",
    "Line",
    "Panel",
    "Picture",
    "StudyTable",
    "draw_answer",
    "figures",
    "measurement_page",
    "percent",
    "print_answer",
    "print_class_queues",
    "print_comparison",
    "print_designs",
    "print_failures",
    "print_judgement",
    "print_measurement",
    "print_network",
    "print_outcome",
    "print_ports",
    "print_size",
    "print_study",
    "print_trace",
    "print_transient",
    "read_answer",
    "read_file",
    "size_page",
]

# The module of each name. A module is imported on first use of one of its names.
_HOLDERS = {
    "Comparison": "documents",
    "draw_answer": "documents",
    "figures": "",
    "measurement_page": "page",
    "print_answer": "documents",
    "read_answer": "documents",
    "read_file": "documents",
    "Line": "picture",
    "Panel": "picture",
    "Picture": "picture",
    "percent": "tables",
    "print_class_queues": "ports",
    "print_comparison": "documents",
    "print_judgement": "measurement",
    "print_measurement": "measurement",
    "print_designs": "network",
    "print_failures": "network",
    "print_network": "network",
    "print_outcome": "outcome",
    "print_ports": "ports",
    "print_size": "size",
    "print_study": "study",
    "StudyTable": "study",
    "size_page": "page",
    "print_trace": "trace",
    "print_transient": "trace",
}


__getattr__ = attributes(__name__, _HOLDERS)
