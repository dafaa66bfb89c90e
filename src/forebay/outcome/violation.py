"""One invariant that does not hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """One invariant that does not hold.

    ``invariant`` is a name of an `INVARIANTS`; ``where`` a path such as
    ``"classes.voip.loss_rate"``; ``seen`` says what is there, for whoever mends it.
    """

    invariant: str
    where: str
    seen: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.where} {self.seen}"
