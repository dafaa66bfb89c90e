"""Several class queues before one wire: what each holds, its place in the schedule, its limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, Strict, model_validator

from forebay.errors import entry
from forebay.scenario.base import ScenarioModel
from forebay.scenario.bounds import SHARE, Between
from forebay.scenario.buffer_size import BufferSize
from forebay.scenario.errors import ScenarioError, did_you_mean, one_of, show
from forebay.scenario.quantity import DataSize
from forebay.scenario.source import NAME

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from forebay.scenario.inputs import ClassQueueDict, RedDict

MAX_CLASSES = 64
"""Class queues before one wire; router ports have 4 to 16."""
_BYTES = Between(DataSize(1), DataSize(10**12))
_PRIORITIES = Between(0, 1000, "number")
LAST = 1001
"""Priority of the classes that set none."""


class Red(ScenarioModel):
    """RED of one class: with thresholds of their own in each class it is WRED by class."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[RedDict]) -> None: ...

    min: Annotated[DataSize | None, _BYTES] = Field(
        default=None, description="Average queue of the class below which nothing is signalled."
    )
    max: Annotated[DataSize | None, _BYTES] = Field(
        default=None, description="Average queue at which the probability is reached."
    )
    probability: Annotated[float | None, Between(1e-6, 1.0, "fraction")] = Field(
        default=None, description="Probability of a signal at max."
    )
    weight: Annotated[float | None, Between(1e-9, 1.0)] = Field(
        default=None, description="Weight of the present queue in its average."
    )
    gentle: Annotated[bool | None, Strict()] = Field(
        default=None, description="From max to twice max the probability rises on to 1."
    )
    ecn: Annotated[bool | None, Strict()] = Field(
        default=None, description="Mark packets of ECN-capable flows instead of dropping them."
    )

    @model_validator(mode="after")
    def _min_below_max(self) -> Self:
        check_thresholds(self.min, self.max)
        return self


def check_thresholds(low: DataSize | None, high: DataSize | None) -> None:
    """Refuse RED's thresholds where min is not below max. Raises ScenarioError."""
    if low is not None and high is not None and low >= high:
        wrong = f"min, {low}, is not below max, {high}"
        raise ScenarioError("contradiction", wrong, "write a larger max", field="max")


class ClassQueue(ScenarioModel):
    """One class queue of a port, such as a Junos scheduler or a class of an IOS policy-map."""

    example: ClassVar[dict[str, Any]] = {}

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[ClassQueueDict]) -> None: ...

    name: Annotated[str, Strict(), Field(pattern=NAME)] = Field(
        description="What messages call it; letters, digits, '_', '.' and '-'.", examples=["voice"]
    )
    traffic: tuple[str, ...] = Field(
        default=(),
        description="Names of the traffic classes whose packets it holds, of ACKs as of data; a "
        'class without a name is its kind and place in the list, "long-0".',
        examples=[["voip"]],
    )
    default: Annotated[bool, Strict()] = Field(
        default=False,
        description="Holds every traffic class that no class queue names; true in one at most.",
    )
    priority: Annotated[int | None, Strict(), _PRIORITIES] = Field(
        default=None,
        description="Strict priority: while a class of a lower number has packets none of a higher "
        "one is served; those without come after all with one.",
    )
    weight: Annotated[float, Between(1e-3, 1e3)] = Field(
        default=1.0,
        description="Share, in bytes and relative to the others', of what is left to the classes "
        "of its priority (deficit round robin).",
    )
    size: BufferSize | None = Field(
        default=None,
        description="Its own limit, in packets, round trips and flows of its own traffic; time is "
        "at the link's rate. A sizing leaves it as it is. Not set: queue.size, or a share of it.",
        examples=["64 packets"],
    )
    share: Annotated[float | None, SHARE] = Field(
        default=None, description="Its limit as a share of queue.size, which is what a sizing sets."
    )
    discipline: Literal["drop-tail", "bfifo", "red"] = Field(
        default="drop-tail",
        description='What it drops by: "drop-tail" counts packets, "bfifo" bytes; "red" where red '
        "is written.",
    )
    red: Red | None = Field(
        default=None, description="RED on this class alone.", examples=[{"min": "30 kB"}]
    )

    @model_validator(mode="before")
    @classmethod
    def _red_says_its_discipline(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and data.get("red") is not None and "discipline" not in data:
            return {**data, "discipline": "red"}
        return data

    @model_validator(mode="after")
    def _only_what_is_read(self) -> Self:
        if self.red is not None and self.discipline != "red":
            wrong = f'"{self.discipline}" has no thresholds'
            hint = f"leave red out, or write {entry('discipline', 'red')}"
            raise ScenarioError("contradiction", wrong, hint, field="red")
        if self.size is not None and self.share is not None:
            wrong, hint = "size and share are both set", "leave one of them out"
            raise ScenarioError("contradiction", wrong, hint, field="share")
        return self

    @property
    def is_sized(self) -> bool:
        """Whether a sizing, which sets queue.size, sets its limit."""
        return self.size is None

    @property
    def level(self) -> int:
        """Its priority as a number, whether it is set or not."""
        return LAST if self.priority is None else self.priority

    @property
    def parameters(self) -> dict[str, Any]:
        """What was set for its discipline: bytes, numbers and switches by name."""
        given = {} if self.red is None else dict(self.red)
        return {name: value for name, value in given.items() if value is not None}


def check_alone(queues: Sequence[ClassQueue]) -> None:
    """Refuse class queues that contradict each other. Raises ScenarioError."""
    if len(queues) > MAX_CLASSES:
        wrong, hint = f"{len(queues)} class queues", f"write {MAX_CLASSES} at most"
        raise ScenarioError("out-of-range", wrong, hint, field="classes")
    names: set[str] = set()
    holders: dict[str, str] = {}
    for index, queue in enumerate(queues):
        if queue.name in names:
            wrong, hint = "another class queue has this name", "write a name of its own"
            field = f"classes.{index}.name"
            raise ScenarioError("contradiction", wrong, hint, field=field, value=queue.name)
        names.add(queue.name)
        for traffic in queue.traffic:
            if traffic in holders:
                wrong = f"{show(traffic)} is named here and in class queue {show(holders[traffic])}"
                hint, field = "name it once", f"classes.{index}.traffic"
                raise ScenarioError("contradiction", wrong, hint, field=field, value=traffic)
            holders[traffic] = queue.name
    defaults = [index for index, queue in enumerate(queues) if queue.default]
    if len(defaults) > 1:
        first = queues[defaults[0]].name
        wrong, hint = f"class queue {show(first)} is the default too", "write it in one of them"
        field = f"classes.{defaults[1]}.default"
        raise ScenarioError("contradiction", wrong, hint, field=field)


def queue_of_traffic(queues: Sequence[ClassQueue], traffic: Sequence[str]) -> list[int | None]:
    """Return the index of the class queue of each traffic class, None where it has none."""
    default = next((index for index, queue in enumerate(queues) if queue.default), None)
    named = {name: index for index, queue in enumerate(queues) for name in queue.traffic}
    return [named.get(name, default) for name in traffic]


def check_traffic(
    field: str, queues: Sequence[ClassQueue], traffic: Sequence[str], crossing: Sequence[str]
) -> None:
    """Refuse unknown names of traffic, and traffic of the link that no class queue takes."""
    for index, queue in enumerate(queues):
        for name in queue.traffic:
            if name not in traffic:
                wrong = f"there is no traffic {show(name)}{did_you_mean(name, traffic)}"
                hint = f"write {one_of(list(traffic)[:8])}"
                place = f"{field}.{index}.traffic"
                raise ScenarioError("unknown-name", wrong, hint, field=place, value=name)
    placed = dict(zip(traffic, queue_of_traffic(queues, traffic), strict=True))
    for name in crossing:
        if placed[name] is None:
            wrong = f"no class queue holds traffic {show(name)}"
            hint = f"name it in the traffic of one, or write {entry('default', True)} in one"
            raise ScenarioError("contradiction", wrong, hint, field=field, value=name)
