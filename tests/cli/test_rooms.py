"""Import rules that import-linter cannot see: of folders without ``__init__``, and of _core."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.cli.test_python_rooms import tree

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ROOT / "src" / "forebay" / "reproduction" / "papers"
OPEN_TO_PAPERS = ("forebay.reproduction", "forebay.report", "forebay.platforms")
# Figure 3 of paper B is about packets as they are drawn; no outcome of a run has those.
EXCEPTIONS = {("theagarajan_2006/bottleneck.py", "forebay.workload")}


def imported(path: Path) -> Iterator[str]:
    """Names of the modules that a file imports; `from forebay import _core` is forebay._core."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{a.name}" for a in node.names if a.name == "_core")


def is_open(name: str) -> bool:
    return name == "forebay" or any(f"{name}.".startswith(f"{room}.") for room in OPEN_TO_PAPERS)


def test_papers_use_the_public_api_and_the_report_only():
    used = {
        (path.relative_to(PAPERS).as_posix(), name)
        for path in PAPERS.rglob("*.py")
        for name in imported(path)
        if name.split(".")[0] == "forebay"
    }
    assert used, "at least one artefact uses forebay"
    assert {(path, name) for path, name in used if not is_open(name)} == EXCEPTIONS


def test_only_the_simulation_the_measurement_and_tables_import_the_core():
    source = ROOT / "src" / "forebay"
    users = {
        path.relative_to(source).parent.as_posix()
        for path in source.rglob("*.py")
        if "_core" in path.read_text(encoding="utf-8")
        for name in imported(path)
        if name == "forebay._core"
    }
    assert users <= {"engines/simulation", "measure", "files"}


def layers() -> list[list[str]]:
    """Return the packages of each line of ARCHITECTURE.md, from the top."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    section = text.partition("## Who may import whom")[2].partition("## ")[0]
    lines = [line.strip() for line in section.splitlines() if line.startswith("    ")]
    return [line.split(", ") for line in lines]


def forbidden() -> list[tuple[str, str]]:
    """Return every pair (importer, imported) that the section does not allow."""
    found = []
    for place, line in enumerate(layers()):
        above = [name for upper in layers()[:place] for name in upper]
        beside = line if place < len(layers()) - 1 else []
        for name in line:
            found += [(name, other) for other in (*above, *beside) if other != name]
    engines = ("theory", "simulation", "testbed", "fixed_point")
    found += [(f"engines.{a}", f"engines.{b}") for a in engines for b in engines if a != b]
    hidden = ("search", "engines", "topology", "workload", "laws", "store", "catalogue")
    found += [(facing, name) for facing in ("cli", "reproduction") for name in hidden]
    read_only = ("engines", "topology", "workload", "laws", "store")
    return found + [(reader, name) for reader in ("report", "platforms") for name in read_only]


def test_every_package_has_its_line():
    packages = {
        path.stem
        for path in (ROOT / "src" / "forebay").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert packages - {"__init__"} == {name for line in layers() for name in line}


def test_every_forbidden_import_fails_the_check(tmp_path):
    copy = tmp_path / "src" / "forebay"
    shutil.copytree(
        ROOT / "src" / "forebay", copy,
        ignore=lambda _, names: [n for n in names if not (n.endswith(".py") or "." not in n)],
    )  # fmt: skip
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    pairs = forbidden()
    assert len(pairs) > 150
    for number, (importer, imported) in enumerate(pairs):
        place = copy / importer.replace(".", "/")
        line = f"import forebay.{imported}\n"
        if place.is_dir():
            (place / f"planted_{number}.py").write_text(line)
        else:
            path = place.with_suffix(".py")
            path.write_text(f"{path.read_text()}\n{line}")
    check = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src")}
    done = subprocess.run(check, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout[-2000:]
    said = set(re.findall(r"(forebay[\w.]*) -> (forebay[\w.]*)", done.stdout))
    missed = [
        (importer, imported)
        for number, (importer, imported) in enumerate(pairs)
        if (f"forebay.{importer}.planted_{number}", f"forebay.{imported}") not in said
        and (f"forebay.{importer}", f"forebay.{imported}") not in said
    ]
    assert not missed
