"""The Python files of src: none is long or sets a constant twice, no function takes many
parameters, no circle of files.
"""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

SRC = Path(__file__).parents[2] / "src"
MOST_LINES, MOST_PARAMETERS = 600, 8
GENERATED = {"forebay/scenario/inputs.py"}
VERBS = {
    "forebay/api/run.py": {"run", "compare"},
    "forebay/api/sensitivity.py": {"sensitivity", "size_uncertain"},
    "forebay/api/sweep.py": {"sweep"},
    "forebay/api/size.py": {"size"},
    "forebay/measure/capture.py": {"capture"},
    "forebay/measure/counters.py": {"counters", "snmp"},
}
"""Public functions whose options are their parameters; commands of click take theirs besides."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


def tree(path: Path) -> ast.Module:
    """Return what a file says; one that is read by several tests is parsed once."""
    return parsed(path.read_text(encoding="utf-8"))


def files(src: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(src.rglob("*.py")):
        name = path.relative_to(src).as_posix()
        if name not in GENERATED:
            yield name, path


def long_files(src: Path) -> list[str]:
    return [
        f"{name}: {lines} lines"
        for name, path in files(src)
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES
    ]


def bound_twice(src: Path) -> list[str]:
    """Constants of a file that it sets again: the last one stands for both."""
    found = []
    for name, path in files(src):
        seen: set[str] = set()
        for node in tree(path).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            for each in (target.id for target in targets if isinstance(target, ast.Name)):
                if each in seen:
                    found.append(f"{name}: {each}")
                seen.add(each)
    return found


def is_command(function: Function) -> bool:
    return any("command(" in ast.unparse(each) for each in function.decorator_list)


def parameters(function: Function) -> int:
    """Return how many a caller may give: not those of self or cls."""
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return sum(each.arg not in ("self", "cls") for each in every)


def wide_functions(src: Path) -> list[str]:
    return [
        f"{name}: {node.name} has {parameters(node)} parameters"
        for name, path in files(src)
        for node in ast.walk(tree(path))
        if isinstance(node, Function)
        and parameters(node) > MOST_PARAMETERS
        and node.name not in VERBS.get(name, ())
        and not is_command(node)
    ]


def at_the_top(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports that run with the file; those of types alone and in functions do not."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from at_the_top(node.orelse)
        elif not isinstance(node, Function):
            for field in ("body", "orelse", "finalbody"):
                yield from at_the_top(getattr(node, field, []))


def module_of(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def needs(src: Path) -> dict[str, set[str]]:
    """Return, for each module, the others that it imports when it is read, but not its packages."""
    paths = {module_of(name): path for name, path in files(src)}
    graph: dict[str, set[str]] = {}
    for module, path in paths.items():
        named: set[str] = set()
        for node in at_the_top(tree(path).body):
            if isinstance(node, ast.Import):
                named.update(alias.name for alias in node.names)
            elif node.module is not None:
                inner = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
                named.update(full if full in paths else node.module for full in inner.values())
        graph[module] = {each for each in named & set(paths) if not f"{module}.".startswith(each)}
    return graph


def circle(src: Path) -> list[str]:
    """Return a circle of modules, each of which imports the next; empty if there is none."""
    try:
        TopologicalSorter(needs(src)).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def test_no_file_is_long() -> None:
    assert long_files(SRC) == []


def test_no_constant_is_set_twice() -> None:
    assert bound_twice(SRC) == []


def test_no_function_takes_many_parameters() -> None:
    assert wide_functions(SRC) == []


def test_no_circle_of_files() -> None:
    assert sum(map(len, needs(SRC).values())) > 500
    assert circle(SRC) == []


def test_what_is_refused_is_seen(tmp_path: Path) -> None:
    wide = ", ".join("abcdefghi")
    planted = {
        "room/__init__.py": "",
        "room/a.py": "x()\n" * MOST_LINES,
        "room/b.py": f"def narrow(self, {wide[3:]}): ...\n",
        "room/c.py": "from room import a\n\ndef later():\n    from room import d\n",
        "room/d.py": "import typing\nif typing.TYPE_CHECKING:\n    from room import c\n",
    }
    for name, text in planted.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert (long_files(tmp_path), wide_functions(tmp_path), circle(tmp_path)) == ([], [], [])
    (tmp_path / "room/d.py").write_text("A = 1\nA = 2\n")
    assert bound_twice(tmp_path) == ["room/d.py: A"]
    (tmp_path / "room/a.py").write_text("x()\n" * (MOST_LINES + 1), encoding="utf-8")
    (tmp_path / "room/b.py").write_text(f"class B:\n    def f(self, {wide}): ...\n")
    (tmp_path / "room/d.py").write_text("from room.c import later\n")
    (tmp_path / "room/c.py").write_text("try:\n    import room.d\nfinally:\n    pass\n")
    assert long_files(tmp_path) == ["room/a.py: 601 lines"]
    assert wide_functions(tmp_path) == ["room/b.py: f has 9 parameters"]
    assert set(circle(tmp_path)) == {"room.c", "room.d"}


def test_no_face_gives_a_name_that_is_also_its_module() -> None:
    """Whoever imports the module first would put it in the name's place."""
    for face in ("report", "platforms", "outcome", "laws"):
        holders = import_module(f"forebay.{face}")._HOLDERS
        assert [name for name, module in holders.items() if name == module] == []
