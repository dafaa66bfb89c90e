"""A run that would take, or has taken, more memory than it may."""

from __future__ import annotations

from forebay.errors import ForebayError, argument
from forebay.scenario import DataSize


class TooMuchMemory(ForebayError):
    """A run takes more memory than it may.

    Attributes
    ----------
    wrong, hint : str
        How much of what, and what to write instead.
    """

    code = "too-much-memory"

    def __init__(self, wrong: str) -> None:
        self.wrong = wrong
        self.hint = f"write a smaller scenario, fewer seeds, or a larger {argument('memory_limit')}"
        super().__init__(f"memory: {wrong}; {self.hint}")

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.wrong,))


def shown(octets: float) -> str:
    """Return a number of bytes as the command line takes it, in three digits."""
    unit, power = ("GB", 9) if octets >= 1e9 else ("MB", 6)
    return f"{octets / 10**power:.3g} {unit}"


def as_size(octets: int) -> str:
    """Return a limit as it was written."""
    return str(DataSize(octets))
