"""The queue disciplines; docs/reference/queues.md has their algorithms."""

from collections.abc import Mapping
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
    parameters : fields of `[queue]` that it reads, besides size, each with its default as the
        simulator has it: seconds, bytes, a number, 1.0 for true and 0.0 for false; None if it is
        computed (docs/reference/queues.md).
    simulator_only : parameters of the simulator that a scenario does not have.
    sized : what a sizing changes: "limit", "target" (of cake by its rtt) or "thresholds".
    default_limit : packets, as in tc; None if its limit is in bytes.
    counts_bytes : whether its limit is in bytes, as in tc.
    drops_tail : whether it drops only an arrival that finds it full, and marks none.
    flow_bytes : memory that it takes for each flow, bytes.
    """

    in_tc: str
    parameters: Mapping[str, float | None]
    simulator_only: tuple[str, ...]
    sized: Literal["limit", "target", "thresholds"]
    default_limit: int | None
    counts_bytes: bool
    drops_tail: bool
    flow_bytes: int

    @property
    def reads_interval(self) -> bool:
        """Whether its interval is a parameter beside its target."""
        return "interval" in self.parameters

    @property
    def default_target_s(self) -> float | None:
        """Target without one in the scenario, seconds; None if it has none."""
        round_trip = self.parameters.get("rtt")
        if round_trip is not None:
            return round_trip / CAKE_TARGETS
        return self.parameters.get("target")


CAKE_TARGETS = 20
"""Targets of cake in its rtt (tc, q_cake.c)."""

RED_SPREAD = 3
"""RED's default ratio of max to min (docs/reference/queues.md)."""

DISCIPLINES = by_name((
    Discipline(
        name="drop-tail", in_tc="pfifo", sized="limit", default_limit=1000,
        parameters={},
        simulator_only=(), counts_bytes=False, drops_tail=True, flow_bytes=0,
    ),
    Discipline(
        name="bfifo", in_tc="bfifo", sized="limit", default_limit=None,
        parameters={},
        simulator_only=(), counts_bytes=True, drops_tail=True, flow_bytes=0,
    ),
    Discipline(
        name="red", in_tc="red", sized="thresholds", default_limit=None,
        parameters={
            "ecn": 0.0, "min": None, "max": None,
            "probability": 0.02, "weight": None, "gentle": 0.0,
        },
        simulator_only=(), counts_bytes=True, drops_tail=False, flow_bytes=0,
    ),
    Discipline(
        name="pie", in_tc="pie", sized="target", default_limit=1000,
        parameters={"ecn": 0.0, "target": 0.015},
        simulator_only=(), counts_bytes=False, drops_tail=False, flow_bytes=0,
    ),
    Discipline(
        name="codel", in_tc="codel", sized="target", default_limit=1000,
        parameters={"ecn": 0.0, "target": 0.005, "interval": 0.1},
        simulator_only=(), counts_bytes=False, drops_tail=False, flow_bytes=0,
    ),
    Discipline(
        name="fq_codel", in_tc="fq_codel", sized="target", default_limit=10240,
        parameters={"ecn": 1.0, "target": 0.005, "interval": 0.1, "quantum": 1514, "buckets": 1024},
        simulator_only=(), counts_bytes=False, drops_tail=False, flow_bytes=4,
    ),
    Discipline(
        name="dualpi2", in_tc="dualpi2", sized="target", default_limit=10000,
        parameters={
            "target": 0.015, "step_thresh": 0.001, "coupling_factor": 2, "classic_protection": 10,
            "drop_on_overload": 1.0,
        },
        simulator_only=(), counts_bytes=False, drops_tail=False, flow_bytes=0,
    ),
    Discipline(
        name="cobalt", in_tc="cobalt", sized="target", default_limit=1000,
        parameters={"ecn": 1.0, "target": 0.005, "interval": 0.1},
        simulator_only=(), counts_bytes=False, drops_tail=False, flow_bytes=0,
    ),
    Discipline(
        name="cake", in_tc="cake", sized="target", default_limit=10240,
        parameters={"rtt": 0.1},
        simulator_only=("target",), counts_bytes=False, drops_tail=False, flow_bytes=0,
    ),
    Discipline(
        name="pfifo_head_drop", in_tc="pfifo_head_drop", sized="limit", default_limit=1000,
        parameters={},
        simulator_only=(), counts_bytes=False, drops_tail=False, flow_bytes=0,
    ),
    Discipline(
        name="classes", in_tc="classes", sized="limit", default_limit=None,
        parameters={},
        simulator_only=(), counts_bytes=False, drops_tail=False, flow_bytes=0,
    ),
))  # fmt: skip
"""All queue disciplines of a scenario, by name."""
