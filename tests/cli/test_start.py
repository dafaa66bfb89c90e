"""Starting fast is a feature: what a verb does not need is not imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TASKS = Path("/proc/self/task")


def modules_after(*arguments: str) -> set[str]:
    code = (
        "import sys; from forebay.cli.program import call; status = call(sys.argv[1:]);"
        "print(*sys.modules, sep='\\n', file=sys.stderr); sys.exit(status)"
    )
    made = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    return set(made.stderr.split())


def test_import_forebay_imports_no_package_of_ours():
    code = "import sys, forebay; print([m for m in sys.modules if m.startswith('forebay.')])"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout.strip() == "[]"


FILES_READ = {"theory": 120, "simulation": 143}
"""Most files of ours that a sizing may import. Lower a number when a change allows it.
Ten of them are the catalogue, two the recommended size, two what the scenario assumes, three the
kind of traffic of transfers, one that of requests, one the bits that a link can pass."""


@pytest.mark.parametrize("engine", list(FILES_READ))
def test_a_sizing_imports_few_files(scenario, engine, tmp_path):
    """A scenario of one class of long flows; what another one needs besides is imported then."""
    easy = tmp_path / "easy.toml"
    text = Path(scenario).read_text(encoding="utf-8")
    assert "utilization = 0.98" in text
    easy.write_text(text.replace("utilization = 0.98", "utilization = 0.5"), encoding="utf-8")
    quick = ("--seeds", "1", "--max-seeds", "1") if engine == "simulation" else ()
    seen = modules_after("size", str(easy), "--engine", engine, *quick)
    ours = {name for name in seen if name.split(".")[0] == "forebay"}
    assert "forebay.search.search" in ours and len(ours) <= FILES_READ[engine]


def test_version_needs_neither_numpy_nor_pydantic():
    assert not modules_after("--version") & {"numpy", "pydantic", "rich"}


def test_sizing_by_theory_needs_no_heavy_library(scenario):
    seen = modules_after("size", scenario, "--engine", "theory", "--json")
    assert not seen & {"scipy", "pint", "matplotlib", "rich", "forebay.engines.simulation"}


@pytest.mark.skipif(not TASKS.exists() or os.cpu_count() == 1, reason="threads cannot be counted")
def test_numpy_starts_no_threads_of_its_own(scenario):
    code = (
        "import atexit, os; atexit.register(lambda: print(len(os.listdir('/proc/self/task'))));"
        "from forebay.cli import main; main()"
    )
    asked = [sys.executable, "-c", code, "size", scenario, "--engine", "theory", "--json"]
    free = {name: value for name, value in os.environ.items() if "_NUM_THREADS" not in name}
    made = subprocess.run(asked, capture_output=True, text=True, check=True, env=free)
    assert made.stdout.splitlines()[-1] == "1"
