"""What other code has to know of engines by their names."""

from __future__ import annotations

WITHOUT_SEEDS = ("theory", "atlas")
"""Engines that compute their answers: the same for each seed, and at once."""
