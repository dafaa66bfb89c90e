"""Package attributes that are imported at first use, for a fast start."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def attributes(package: str, holders: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for a package.

    Parameters
    ----------
    holders : the module of the package that holds each name; "" if the name is a module.
    """

    def find(name: str) -> Any:
        if name not in holders:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{holders[name] or name}")
        value = getattr(module, name) if holders[name] else module
        setattr(sys.modules[package], name, value)
        return value

    return find
