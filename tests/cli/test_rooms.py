"""Import rules that import-linter cannot see: of folders without ``__init__``, and of _core."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ROOT / "src" / "forebay" / "reproduction" / "papers"
OPEN_TO_PAPERS = ("forebay.reproduction", "forebay.report", "forebay.platforms")
# Figure 3 of paper B is about packets as they are drawn; no outcome of a run has those.
EXCEPTIONS = {("theagarajan_2006/fig3/artefact.py", "forebay.workload")}


def imported(path: Path) -> Iterator[str]:
    """Names of the modules that a file imports; `from forebay import _core` is forebay._core."""
    for node in ast.walk(ast.parse(path.read_text())):
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


def test_only_the_simulation_and_the_measurement_import_the_core():
    source = ROOT / "src" / "forebay"
    users = {
        path.relative_to(source).parent.as_posix()
        for path in source.rglob("*.py")
        for name in imported(path)
        if name == "forebay._core"
    }
    assert users <= {"engines/simulation", "measure"}


def at_the_top(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that run when a file is read; those under TYPE_CHECKING and in functions do not."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.Try) or (
            isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.dump(node.test)
        ):
            yield from at_the_top(node.body)


def test_no_file_imports_itself_by_way_of_others():
    source = ROOT / "src"
    paths = {
        ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__"): path
        for path in source.rglob("*.py")
    }
    graph: dict[str, set[str]] = {}
    for name, path in paths.items():
        used = set()
        for node in at_the_top(ast.parse(path.read_text()).body):
            if isinstance(node, ast.Import):
                used |= {alias.name for alias in node.names}
            elif node.module is not None:
                parts = {f"{node.module}.{alias.name}" for alias in node.names}
                used |= parts & set(paths) or {node.module}
        graph[name] = (used & set(paths)) - {name}
    assert sum(map(len, graph.values())) > 500
    TopologicalSorter(graph).prepare()  # a CycleError names the files
