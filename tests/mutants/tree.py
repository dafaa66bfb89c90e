"""Copies of the repository, in which files may be changed."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from compileall import compile_dir
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv/bin/python"
_NEEDED = (
    "src", "tests", "generate", "scenarios", "docs", "crates", "benches", "pyproject.toml",
    "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "Cargo.toml", "Cargo.lock",
    "Makefile",
)  # fmt: skip


@contextmanager
def copies(many: int) -> Iterator[list[Path]]:
    """Make so many copies of what tests need; they are removed in the end."""
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="mutants-") as folder:
        made = [Path(folder) / str(number) for number in range(many)]
        for tree in made:
            for name in _NEEDED:
                _copy(ROOT / name, tree / name)
            compile_dir(tree / "src", quiet=2)  # what a mutant leaves as it is, is compiled once
        yield made


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy2(source, target)


def pytest_in(tree: Path, arguments: list[str], seconds: float) -> int | None:
    """Run pytest in a copy; None if it takes longer."""
    environment = {"PYTHONPATH": f"{tree / 'src'}:{tree}", "PYTHONDONTWRITEBYTECODE": "1"}
    line = [str(PYTHON), "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    try:
        done = subprocess.run(
            line, cwd=tree, env=_with(environment), timeout=seconds, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    return done.returncode


def _with(more: dict[str, str]) -> dict[str, str]:
    import os

    return {**os.environ, **more}
