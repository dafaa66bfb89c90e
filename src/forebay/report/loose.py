"""Files of the proof room as modules: they lie loose in papers/, in no package."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def load_file(path: Path) -> ModuleType:
    """Run a file and return its module, which from then on is known by the file's path.

    Raises
    ------
    ImportError
        It is no Python file.
    """
    spec = spec_from_file_location(str(path), path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def beside(folder: Path, name: str) -> ModuleType:
    """Return ``name``.py beside an artefact's folder; run once, for artefacts share its runs."""
    path = folder.parent / f"{name}.py"
    return sys.modules.get(str(path)) or load_file(path)
