"""Text into a file that is there whole or not at all."""

from __future__ import annotations

from pathlib import Path

from forebay.outcome.replacing import replacing


def write_text(text: str, path: Path) -> None:
    """Write text in UTF-8 beside its place and rename it there. Raises OSError."""
    with replacing(path) as file:
        file.write(text.encode())
