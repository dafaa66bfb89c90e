"""The film that was encoded, streamed and captured; see `film/README.md`."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np

FILM = Path(__file__).resolve().parent / "film" / "film.csv.gz"
CELL_S = 1024e-6
FRAME_RATE = 25


def packets() -> tuple[Any, Any]:
    """Return the centre of each interval of 2^10 µs with packets, in seconds, and its IP bytes.

    Shapes (cells,); times are relative to the first packet's interval.
    """
    text = io.StringIO(gzip.decompress(FILM.read_bytes()).decode())
    rows = [(int(row["cells_since"]), int(row["bytes"])) for row in csv.DictReader(text)]
    since, octets = np.array(rows).T
    return (np.cumsum(since) + 0.5) * CELL_S, octets
