"""The film that was encoded, streamed and captured: `film/README.md` says how."""

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
    """Return the middle of each cell of 2^10 µs that held packets, in seconds, and its bytes of IP.

    Shapes (cells,); times count from the first packet's cell.
    """
    text = io.StringIO(gzip.decompress(FILM.read_bytes()).decode())
    rows = [(int(row["cells_since"]), int(row["bytes"])) for row in csv.DictReader(text)]
    since, octets = np.array(rows).T
    return (np.cumsum(since) + 0.5) * CELL_S, octets
