"""The theory engine: published laws, without simulation."""

from __future__ import annotations

from forebay.engines.theory.engine import TheoryEngine

__all__ = ["TheoryEngine"]
