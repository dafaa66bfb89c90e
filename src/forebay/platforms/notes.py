"""Notes about a configuration: facts, warnings, and what is not certain."""

from dataclasses import dataclass
from typing import Literal

NoteKind = Literal["note", "trap", "uncertain"]


@dataclass(frozen=True, slots=True)
class Note:
    """A note: a fact, a warning, or an uncertain fact."""

    kind: NoteKind
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def note(text: str) -> Note:
    """Return a note with a fact."""
    return Note("note", text)


def trap(text: str) -> Note:
    """Return a warning: the configuration may not have the expected effect."""
    return Note("trap", text)


def uncertain(text: str) -> Note:
    """Return a fact that is badly documented or differs between releases."""
    return Note("uncertain", text)


GUARD = note("the limit is a guard: what the discipline aims at decides the queue")
POOL_UNKNOWN = trap("the pool's size is not here: write --pool, in Python pool_bytes")
