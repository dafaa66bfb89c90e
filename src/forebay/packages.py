"""Packages that an extra installs, looked for where they are needed, before the work; ours.

What a package of ours offers is imported at first use, for a fast start.
"""

import os
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from forebay.errors import ForebayError

_EXTRAS = {
    "distributed": "cluster",
    "jinja2": "report",
    "matplotlib": "report",
    "netflow": "counters",
    "pyarrow": "parquet",
    "pyroute2": "testbed",
    "pysnmp": "counters",
    "starlette": "web",
    "uvicorn": "web",
}

_FIGURE = ("a figure", "matplotlib")
_FORMATS = {
    ".html": ("an HTML page", "matplotlib", "jinja2"),
    ".parquet": ("a Parquet file", "pyarrow"),
    ".pdf": _FIGURE,
    ".png": _FIGURE,
    ".svg": _FIGURE,
}


class MissingPackage(ForebayError):
    """An optional package is not installed.

    Attributes
    ----------
    package : str
        Its name.
    needs : str
        What needs it, such as ``"a figure"``.
    """

    exit_status = 3

    def __init__(self, needs: str, package: str) -> None:
        self.needs, self.package = needs, package
        wants = wanted(package)
        super().__init__("missing-package", needs=needs, package=package, wanted=wants)


def wanted(package: str) -> str:
    """Return what pip is to install for a package: ``"forebay[report]"`` for matplotlib."""
    return f"forebay[{_EXTRAS[package]}]" if package in _EXTRAS else package


def check_package(needs: str, *packages: str) -> None:
    """Refuse work that lacks one of the packages, without importing them. Raises MissingPackage."""
    for package in packages:
        if find_spec(package) is None:
            raise MissingPackage(needs, package)


def check_file(path: str | os.PathLike[str]) -> None:
    """Refuse a file whose format, by its name, lacks a package. Raises MissingPackage."""
    what, *packages = _FORMATS.get(Path(path).suffix.lower(), ("",))
    check_package(what, *packages)


def import_package(needs: str, package: str) -> Any:
    """Return a module. Raises MissingPackage."""
    try:
        return import_module(package)
    except ImportError:
        raise MissingPackage(needs, package) from None


@cache
def installed_version() -> str:
    """Return Forebay's version, "unknown" in a source tree that was never installed."""
    try:
        return version("forebay")
    except PackageNotFoundError:
        return "unknown"


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
