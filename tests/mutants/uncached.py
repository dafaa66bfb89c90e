"""A plugin of pytest: a test computes anew what functools keeps, so each executes all it needs."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator

_KEPT: dict[str, list[functools._lru_cache_wrapper[object]]] = {}


def pytest_runtest_setup() -> None:
    """Forget what the functions of each module of ours have kept."""
    for name in [each for each in sys.modules if each.startswith("forebay.")]:
        if name not in _KEPT:
            _KEPT[name] = list(_functions(name))
        for function in _KEPT[name]:
            function.cache_clear()


def _functions(name: str) -> Iterator[functools._lru_cache_wrapper[object]]:
    values = list(vars(sys.modules[name]).values())
    members = [part for each in values if isinstance(each, type) for part in vars(each).values()]
    for value in (*values, *members):
        bare = getattr(value, "__func__", value)
        if isinstance(bare, functools._lru_cache_wrapper):
            yield bare
