"""Settings of the outcome tests."""

from __future__ import annotations

from hypothesis import settings

# a busy machine makes any single example slow; what matters is the answer
settings.register_profile("forebay", deadline=None)
settings.load_profile("forebay")
