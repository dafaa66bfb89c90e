"""Figure 2: the rate of the film by intervals of 10 s."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from forebay.report import Line, Panel, Picture
from forebay.reproduction import OURS, Progress, Reproduction, judge
from forebay.reproduction.papers.theagarajan_2006 import encoded

HERE = Path(__file__).resolve().parent
INTERVAL_S = 10
NOTES = [
    "The film is ours: synthetic scenes, encoded at constant quality, streamed in real time and "
    "captured on loopback. The paper's own is not to be had, and its figure has no numbers.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Sum the captured bytes; needs no run."""
    at_s, octets = encoded.packets()
    return judge(
        "theagarajan-2006/fig2",
        "Theagarajan et al. 2006, Figure 2: the rate of the video",
        HERE,
        numbers(at_s, octets),
        kind=OURS,
        notes=NOTES,
        picture=_picture(volumes(at_s, octets, INTERVAL_S) * 8 / INTERVAL_S / 1e6),
    )


def numbers(at_s: Any, octets: Any) -> dict[str, float]:
    """The claims' numbers, from packets at times in seconds."""
    each = volumes(at_s, octets, INTERVAL_S)
    frames = volumes(at_s, octets, 1 / encoded.FRAME_RATE)
    shuffled = frames.std() * np.sqrt(INTERVAL_S * encoded.FRAME_RATE)
    return {
        "rate": float(each.mean()) * 8 / INTERVAL_S / 1e6,
        "burst": float(each.std() / each.mean()),
        "memory": float(each.std() / shuffled),
    }


def volumes(at_s: Any, octets: Any, width_s: float) -> Any:
    """Return the bytes of each complete interval; shape (intervals,)."""
    place = (at_s / width_s).astype(np.int64)
    return np.bincount(place, weights=octets)[: int(at_s[-1] / width_s)]


def _picture(rates: Any) -> Picture:
    times = (np.arange(len(rates)) * INTERVAL_S).tolist()
    line = Line(times, rates.tolist(), "encoded film", "line")
    return Picture([Panel([line], "time, s", "Mbit/s over 10 s")])
