"""The notebooks of docs/gallery run, and show what they compute."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
NOTEBOOKS = sorted(GALLERY.glob("*.ipynb"))


def code_cells(notebook: Path) -> list[dict[str, Any]]:
    """Return the cells of a notebook that have code."""
    cells: list[dict[str, Any]] = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def program(notebook: Path) -> str:
    """Return a notebook's code in the order of its cells, without IPython's own lines."""
    lines = [line for cell in code_cells(notebook) for line in [*cell["source"], "\n"]]
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines if line[0] != "%")


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 5


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_was_run_in_order_and_without_an_error(notebook: Path) -> None:
    cells = code_cells(notebook)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    kinds = {output["output_type"] for cell in cells for output in cell["outputs"]}
    assert "execute_result" in kinds
    assert "error" not in kinds
    compile(program(notebook), notebook.name, "exec")


@pytest.mark.long
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_still_runs(notebook: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", program(notebook)], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
