"""Tables and pictures, made only from Outcomes and from the documents of the contract.

A report computes nothing that an engine or a sizing did not return. `forebay.report.figures`
is imported separately, because its import takes half a second.
"""

from typing import TYPE_CHECKING

from forebay.packages import attributes

if TYPE_CHECKING:
    from forebay.outcome import Comparison as Comparison
    from forebay.outcome.study import StudyTable as StudyTable
    from forebay.report import figures as figures
    from forebay.report.documents import (
        draw_answer as draw_answer, print_answer as print_answer,
        print_comparison as print_comparison, read_answer as read_answer, read_file as read_file,
    )  # fmt: skip
    from forebay.report.measurement import (
        print_judgement as print_judgement, print_measurement as print_measurement,
    )  # fmt: skip
    from forebay.report.network import (
        print_designs as print_designs, print_failures as print_failures,
        print_network as print_network,
    )  # fmt: skip
    from forebay.report.outcome import (
        print_outcome as print_outcome, print_trace as print_trace,
        print_transient as print_transient,
    )  # fmt: skip
    from forebay.report.page import measurement_page as measurement_page, size_page as size_page
    from forebay.report.picture import Line as Line, Panel as Panel, Picture as Picture
    from forebay.report.ports import (
        print_class_queues as print_class_queues, print_ports as print_ports,
    )  # fmt: skip
    from forebay.report.size import print_size as print_size
    from forebay.report.study import print_study as print_study
    from forebay.report.tables import percent as percent

# The names of each module, which is imported on first use of one of them.
_MODULES = {
    "documents": "Comparison draw_answer print_answer print_comparison read_answer read_file",
    "measurement": "print_judgement print_measurement",
    "network": "print_designs print_failures print_network",
    "outcome": "print_outcome print_trace print_transient",
    "page": "measurement_page size_page",
    "picture": "Line Panel Picture",
    "ports": "print_class_queues print_ports",
    "size": "print_size",
    "study": "StudyTable print_study",
    "tables": "percent",
}
_HOLDERS = {name: module for module, names in _MODULES.items() for name in names.split()}

__getattr__ = attributes(__name__, {**_HOLDERS, "figures": ""})
