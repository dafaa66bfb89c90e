"""Scripts that draw figures, write tables and time things import what the package has."""

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(
    path
    for folder in ("docs/explanation/figures", "docs/sizes", "benches")
    for path in (ROOT / folder).rglob("*.py")
)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_script_finds_what_it_imports(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(path.parent), str(ROOT / "benches"), *sys.path])
    runpy.run_path(str(path), run_name="imported")
