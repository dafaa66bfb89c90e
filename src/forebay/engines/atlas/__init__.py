"""The atlas: a model of simulations of today's mixes, which answers in milliseconds."""

from __future__ import annotations

from forebay.engines.atlas.engine import AtlasEngine

__all__ = ["AtlasEngine"]
