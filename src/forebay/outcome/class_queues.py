"""The sizes of a port's class queues, found together under one memory."""

from typing import Any

from forebay.outcome.document import Closed, Document, Text
from forebay.outcome.model import Metric, Outcome
from forebay.outcome.size_result import Verdict


class ClassQueueSize(Closed):
    """One class queue.

    Attributes
    ----------
    traffic : names of its traffic classes.
    is_sized : whether its size was sought; a size that is written is kept.
    packets, bytes : the size to configure; bytes with its largest packet.
    seconds : the size at the port's rate, s.
    low, high : interval of the least with the others as they are, packets; None if it was kept, or
        no size of it meets its goals.
    error : one line why it has no size that meets its goals, or none that is recommended.
    """

    name: str
    traffic: tuple[str, ...]
    is_sized: bool
    packets: int
    bytes: int
    seconds: float
    low: int | None = None
    high: int | None = None
    error: Text | None = None


class JointGoal(Closed):
    """A goal with all class queues at their sizes; ``reached`` is None if it was not measured."""

    goal: str
    verdict: Verdict
    reached: Metric | None


class ClassQueueSizes(Document):
    """All class queues of a port, and a run with all of them at their sizes.

    Attributes
    ----------
    bytes : of all queues together.
    wanted_bytes : what the sizes take together; more than `memory_bytes` if they were cut.
    memory_bytes : the memory of the port; None if it was not given.
    passes : how often each queue was sized with the others at their latest sizes.
    steady : whether the last pass moved no size out of its interval.
    outcome : the port with all queues at these sizes; its scenario has them.
    configuration : added by the command line: the document of ``--emit``.
    """

    engine: str
    class_queues: tuple[ClassQueueSize, ...]
    bytes: int
    wanted_bytes: int
    memory_bytes: int | None
    passes: int
    steady: bool
    goals: tuple[JointGoal, ...]
    outcome: Outcome
    configuration: dict[str, Any] | None = None

    def __repr__(self) -> str:
        sizes = ", ".join(f"{row.name} {row.packets} packets" for row in self.class_queues[:4])
        return f"ClassQueueSizes({str(self.outcome.scenario['name'])[:60]!r}, {sizes})"

    __str__ = __repr__

    @property
    def is_cut(self) -> bool:
        """Whether the memory holds less than the sizes that were found."""
        return self.memory_bytes is not None and self.wanted_bytes > self.memory_bytes

    @property
    def exit_status(self) -> int:
        """0 if all goals are met together, 1 if one is missed, 3 if the evidence is short."""
        verdicts = {goal.verdict for goal in self.goals}
        if Verdict.MISSED in verdicts:
            return 1
        short = Verdict.UNDECIDED in verdicts or any(queue.error for queue in self.class_queues)
        return 3 if short else 0
