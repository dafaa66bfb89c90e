"""Write text to a file atomically."""

from __future__ import annotations

from pathlib import Path

from forebay.outcome.replacing import replacing


def write_text(text: str, path: Path) -> None:
    """Write text in UTF-8 to a temporary file and rename it. Raises OSError."""
    with replacing(path) as file:
        file.write(text.encode())
