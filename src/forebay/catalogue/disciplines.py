"""The queue disciplines; docs/reference/queues.md has their algorithms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from forebay.catalogue.record import Record, by_name


@dataclass(frozen=True, kw_only=True)
class Discipline(Record):
    """A queue discipline.

    Attributes
    ----------
    name : name in a scenario.
    in_tc : name in Linux's tc and in ``disciplines!`` of crates/sim/src/queue/registry.rs.
    parameters : fields of `[queue]` that it reads, besides size.
    sized : what a sizing changes: "limit", "target" (of cake by its rtt) or "thresholds".
    default_target_s : target without one in the scenario (docs/reference/queues.md), seconds; None
        if it has none.
    reads_interval : whether its interval is a parameter beside its target.
    counts_bytes : whether its limit is in bytes, as in tc.
    drops_tail : whether it drops only an arrival that finds it full, and marks none.
    flow_bytes : memory that it takes for each flow, bytes.
    """

    in_tc: str
    parameters: tuple[str, ...]
    sized: Literal["limit", "target", "thresholds"]
    default_target_s: float | None
    reads_interval: bool
    counts_bytes: bool
    drops_tail: bool
    flow_bytes: int


DISCIPLINES = by_name(
    (
        Discipline(
            name="drop-tail",
            in_tc="pfifo",
            parameters=(),
            sized="limit",
            default_target_s=None,
            reads_interval=False,
            counts_bytes=False,
            drops_tail=True,
            flow_bytes=0,
        ),
        Discipline(
            name="bfifo",
            in_tc="bfifo",
            parameters=(),
            sized="limit",
            default_target_s=None,
            reads_interval=False,
            counts_bytes=True,
            drops_tail=True,
            flow_bytes=0,
        ),
        Discipline(
            name="red",
            in_tc="red",
            parameters=("ecn", "min", "max", "probability", "weight", "gentle"),
            sized="thresholds",
            default_target_s=None,
            reads_interval=False,
            counts_bytes=True,
            drops_tail=False,
            flow_bytes=0,
        ),
        Discipline(
            name="pie",
            in_tc="pie",
            parameters=("ecn", "target"),
            sized="target",
            default_target_s=0.015,
            reads_interval=False,
            counts_bytes=False,
            drops_tail=False,
            flow_bytes=0,
        ),
        Discipline(
            name="codel",
            in_tc="codel",
            parameters=("ecn", "target", "interval"),
            sized="target",
            default_target_s=0.005,
            reads_interval=True,
            counts_bytes=False,
            drops_tail=False,
            flow_bytes=0,
        ),
        Discipline(
            name="fq_codel",
            in_tc="fq_codel",
            parameters=("ecn", "target", "interval", "quantum", "buckets"),
            sized="target",
            default_target_s=0.005,
            reads_interval=True,
            counts_bytes=False,
            drops_tail=False,
            flow_bytes=4,
        ),
        Discipline(
            name="dualpi2",
            in_tc="dualpi2",
            parameters=(
                "target",
                "step_thresh",
                "coupling_factor",
                "classic_protection",
                "drop_on_overload",
            ),
            sized="target",
            default_target_s=0.015,
            reads_interval=False,
            counts_bytes=False,
            drops_tail=False,
            flow_bytes=0,
        ),
        Discipline(
            name="cobalt",
            in_tc="cobalt",
            parameters=("ecn", "target", "interval"),
            sized="target",
            default_target_s=0.005,
            reads_interval=True,
            counts_bytes=False,
            drops_tail=False,
            flow_bytes=0,
        ),
        Discipline(
            name="cake",
            in_tc="cake",
            parameters=("rtt",),
            sized="target",
            default_target_s=0.005,
            reads_interval=False,
            counts_bytes=False,
            drops_tail=False,
            flow_bytes=0,
        ),
        Discipline(
            name="pfifo_head_drop",
            in_tc="pfifo_head_drop",
            parameters=(),
            sized="limit",
            default_target_s=None,
            reads_interval=False,
            counts_bytes=False,
            drops_tail=False,
            flow_bytes=0,
        ),
        Discipline(
            name="classes",
            in_tc="classes",
            parameters=(),
            sized="limit",
            default_target_s=None,
            reads_interval=False,
            counts_bytes=False,
            drops_tail=False,
            flow_bytes=0,
        ),
    )
)
"""All queue disciplines of a scenario, by name."""
