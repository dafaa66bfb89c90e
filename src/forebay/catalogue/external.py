"""Controls from outside as records: what is not known of one is None, and no law covers it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from forebay import foreign
from forebay.catalogue.controls import CONTROLS as OURS
from forebay.catalogue.controls import Control


class Controls(dict[str, Control]):
    """Records by name. Iterating gives ours; a name of a control from outside is found, too."""

    def __init__(self, ours: Iterable[Control]) -> None:
        super().__init__((each.name, each) for each in ours)

    def __missing__(self, name: str) -> Control:
        found = foreign.find(name)
        if found is None:
            raise KeyError(name)
        return _record(found)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (
            isinstance(name, str) and foreign.find(name) is not None
        )


def is_ours(name: str) -> bool:
    """Whether the simulator has a control of that name itself."""
    return name in OURS


def _record(found: foreign.Installed) -> Control:
    marks: Literal["in proportion", "as a loss", "no"]
    if found.ecn or found.l4s:
        marks = "in proportion"
    else:
        marks = "no" if found.controls_cwnd else "as a loss"
    return Control(
        name=found.name,
        source=found.source,
        in_core="",
        in_kernel=None,
        bpf_program=None,
        paced=found.paces,
        kept_after_loss=None,
        sawtooth=None if found.controls_cwnd else "reno",
        response=None,
        growth=None,
        single_flow=None,
        population=None,
        answers_marks=marks,
        needs_ecn=found.ecn or found.l4s,
        packet_cost="model" if found.paces else "loss",
        probe_rtt_s=None,
        does_at_loss=None,
    )


CONTROLS = Controls(OURS.values())
"""All congestion controls of a scenario, by name."""
