"""A queue: its discipline under Linux's names, its size, and what the discipline can be told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, Strict, model_validator

from forebay.errors import entry, literal
from forebay.scenario.base import ScenarioModel
from forebay.scenario.bounds import Between
from forebay.scenario.buffer_size import BufferSize
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import DataSize, Duration

if TYPE_CHECKING:
    from typing import Unpack

    from forebay.scenario.inputs import QueueDict

Discipline = Literal[
    "drop-tail", "bfifo", "red", "pie", "codel", "fq_codel", "dualpi2", "pfifo_head_drop"
]

# Which disciplines read a parameter; those that are not named read none.
_READ_BY: dict[str, tuple[str, ...]] = {
    "ecn": ("red", "pie", "codel", "fq_codel"),
    "min": ("red",),
    "max": ("red",),
    "probability": ("red",),
    "weight": ("red",),
    "gentle": ("red",),
    "target": ("pie", "codel", "fq_codel", "dualpi2"),
    "interval": ("codel", "fq_codel"),
    "quantum": ("fq_codel",),
    "buckets": ("fq_codel",),
    "step_thresh": ("dualpi2",),
    "coupling_factor": ("dualpi2",),
    "classic_protection": ("dualpi2",),
    "drop_on_overload": ("dualpi2",),
}
_BYTES = Between(DataSize(1), DataSize(10**12))
_TIMES = Between(Duration(1e-9), Duration(3600))


class Queue(ScenarioModel):
    """A buffer in front of a link."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[QueueDict]) -> None: ...

    discipline: Discipline = Field(
        default="drop-tail",
        description='"drop-tail" counts packets and drops an arrival that finds it full (Linux '
        'pfifo); "bfifo" does so in bytes; "pfifo_head_drop" drops the oldest instead; '
        '"red", "pie", "codel", "fq_codel" and "dualpi2" as in '
        "queues.md, with Linux's defaults for what is not set.",
    )
    size: BufferSize = Field(
        default=BufferSize(1.0, "bdp"),
        description="Packets that may wait, the one being sent not counted: packets, bytes "
        "(rounded down to whole packets), time at the link's rate, a multiple of the "
        "bandwidth-delay product, or that over the root of the number of flows; in all at least "
        "1 packet, at most 1000000000.",
        examples=["129 packets", "1.5 MB", "10 ms", "1 bdp", "1 bdp/sqrt(n)"],
    )
    transmit_ring: Annotated[int, Strict(), Between(0, 100_000, "packets")] = Field(
        default=0,
        description="Packets that the line card holds between queue and wire, on top of the "
        "size; the queue does not count them (Appenzeller et al. 2004, section 5.2.2).",
    )
    ecn: Annotated[bool | None, Strict()] = Field(
        default=None, description="Mark packets of ECN-capable flows instead of dropping them."
    )
    min: Annotated[DataSize | None, _BYTES] = Field(
        default=None, description="red: average queue below which nothing is signalled."
    )
    max: Annotated[DataSize | None, _BYTES] = Field(
        default=None, description="red: average queue at which the probability is reached."
    )
    probability: Annotated[float | None, Between(1e-6, 1.0, "fraction")] = Field(
        default=None, description="red: probability of a signal at max."
    )
    weight: Annotated[float | None, Between(1e-9, 1.0)] = Field(
        default=None, description="red: weight of the present queue in its average."
    )
    gentle: Annotated[bool | None, Strict()] = Field(
        default=None, description="red: from max to twice max the probability rises on to 1."
    )
    target: Annotated[Duration | None, _TIMES] = Field(
        default=None, description="pie, codel, fq_codel, dualpi2: delay that is aimed at."
    )
    interval: Annotated[Duration | None, _TIMES] = Field(
        default=None, description="codel, fq_codel: time in which a queue must fall below target."
    )
    quantum: Annotated[DataSize | None, Between(DataSize(256), DataSize(1_000_000))] = Field(
        default=None, description="fq_codel: bytes that a flow may send in its turn."
    )
    buckets: Annotated[int | None, Strict(), Between(1, 65_536, "queues")] = Field(
        default=None, description="fq_codel: queues that flows are hashed into."
    )
    step_thresh: Annotated[Duration | None, _TIMES] = Field(
        default=None, description="dualpi2: L4S packets that waited longer are all marked."
    )
    coupling_factor: Annotated[int | None, Strict(), Between(1, 255)] = Field(
        default=None,
        description="dualpi2: k; where classic packets are dropped with p, L4S ones are marked "
        "with k times the root of p.",
    )
    classic_protection: Annotated[int | None, Strict(), Between(0, 100, "percent")] = Field(
        default=None,
        description="dualpi2: share of the classic queue while both queues wait.",
    )
    drop_on_overload: Annotated[bool | None, Strict()] = Field(
        default=None,
        description="dualpi2: what marks cannot slow down is dropped; else it fills the queue.",
    )

    alpha: Annotated[float | None, Between(1e-3, 1000.0)] = Field(
        default=None,
        description="The queue takes its packets from the scenario's shared memory, and may hold "
        "at most alpha times what is free there (Choudhury and Hahne 1998).",
    )

    @model_validator(mode="after")
    def _only_what_the_discipline_reads(self) -> Self:
        for name, readers in _READ_BY.items():
            if getattr(self, name) is not None and self.discipline not in readers:
                wrong = f'"{self.discipline}" has no such parameter'
                hint = f"leave it out, or write {' or '.join(_written(readers))}"
                raise ScenarioError("contradiction", wrong, hint, field=name)
        if self.min is not None and self.max is not None and self.min >= self.max:
            wrong = f"min, {self.min}, is not below max, {self.max}"
            raise ScenarioError("contradiction", wrong, "write a larger max", field="max")
        return self

    @property
    def parameters(self) -> dict[str, Any]:
        """What was set for the discipline: bytes, seconds, numbers and switches by name."""
        given = ((name, getattr(self, name)) for name in _READ_BY)
        return {name: value for name, value in given if value is not None}


def _written(names: tuple[str, ...]) -> list[str]:
    first, *others = names
    return [entry("discipline", first), *(literal(name) for name in others)]
