"""What a machine's own stalls did to a run that is valid otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

NOTICED = 0.05
"""Share of the losses from which stalls are said. A stall of 5 ms in 30 s made a quarter of those
of ten Reno flows at 500 Mbit/s, which lose 0.02 %; where BBR loses 10 % it is nothing."""


def disturbed(gates: Sequence[Mapping[str, float]]) -> tuple[str, ...]:
    """Return a sentence if stalls explain much of the losses of these runs.

    Parameters
    ----------
    gates : sequence of mapping
        Each run's gate readings: ``drops``, and ``stall_drops``, those within a round trip and
        the shortest buffer's drain time after a stall of a quarter of that time.
    """
    drops = int(sum(gate.get("drops", 0) for gate in gates))
    after = int(sum(gate.get("stall_drops", 0) for gate in gates))
    if after < NOTICED * drops or not after:
        return ()
    return (
        f"This machine stalled: {after} of {drops} losses ({after / drops:.0%}) came within a "
        "round trip and a drain time after a stall, when all that waited arrived at once",
    )
