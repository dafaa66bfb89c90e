"""The engine of published laws: answers at once, and says what it assumes."""

from __future__ import annotations

from forebay.engines.theory.engine import TheoryEngine

__all__ = ["TheoryEngine"]
