"""Which tests execute a line, and how long each takes."""

import resource
import shutil
import xml.etree.ElementTree as xml
from pathlib import Path

import coverage
from of_python import PACKAGES, Mutant
from tree import ROOT, pytest_in

_ALL_S = 3600.0
_KEPT = ROOT / "build/mutants"
_DATA, _TIMES, _LOAD = _KEPT / "coverage", _KEPT / "times.xml", _KEPT / "load"
_APART = ("agreement", "changes", "docs", "engines/testbed", "fuzz", "mutants", "web")
_MOST_S = 60.0
"""Seconds of tests, the quickest first, after which a mutant has survived: of the processor, so
that what else the machine does leaves the choice as it is."""
_PATIENCE, _START_S = 4.0, 30.0
_NOT_THERE = 4
"""Pytest's status where a test that is named is not found."""


class Covering:
    """The tests of a copy of the repository, run once without a mutant, with what each executes.

    ``again`` takes what was seen the last time, for a sample after another in the same code.

    Raises
    ------
    SystemExit
        A test fails without a mutant.
    """

    def __init__(self, tree: Path, *, again: bool = False) -> None:
        if not again:
            _run_all(tree)
        self._data = coverage.CoverageData(str(_DATA))
        self._data.read()
        self._files = {each.partition("/src/forebay/")[2]: each for each in _measured(self._data)}
        self._seconds, self._load = _seconds(_TIMES), float(_LOAD.read_text())

    def passes(self, mutant: Mutant, tree: Path) -> bool:
        """Whether all tests that execute a mutant's line pass in a copy that has it."""
        tests = self._tests(mutant)
        if not tests:
            return True
        path = tree / mutant.file
        before = path.read_text("utf-8")
        path.write_text(mutant.applied(before), "utf-8")
        try:
            expected_s = sum(self._seconds.get(each, 1.0) for each in tests)
            limit_s = _START_S + _PATIENCE * expected_s
            status = pytest_in(tree, ["-x", *tests], limit_s)
            if status == _NOT_THERE:  # it changes what tests are named by, or breaks an import
                whole = sorted({test.partition("[")[0] for test in tests})
                status = pytest_in(tree, ["-x", *whole], limit_s)
            return status == 0
        finally:
            path.write_text(before, "utf-8")

    def _tests(self, mutant: Mutant) -> list[str]:
        """Return the tests that execute its line, or where it is executed at import, its file.

        Those of its own room come first: they ask it what others use in passing. What a fixture
        executes before the first test of a file may be of all its tests.
        """
        file = str(mutant.file).removeprefix("src/forebay/")
        room = f"tests/{file.partition('/')[0]}/"
        lines = self._data.contexts_by_lineno(self._files.get(file, ""))
        found = {name for name in lines.get(mutant.line, []) if name}
        found = found or {name for names in lines.values() for name in names if name}
        named = {name.partition("|")[0] for name in found}
        prepared = {name.partition("::")[0] for name in found if name.endswith("|setup")}
        named |= {test for test in self._seconds if test.partition("::")[0] in prepared}
        tests = sorted(named, key=lambda test: (not test.startswith(room), self._quickest(test)))
        kept, spent_s = [], 0.0
        for test in tests:
            spent_s += self._seconds.get(test, 1.0) / self._load
            if kept and spent_s > _MOST_S:
                break
            kept.append(test)
        return kept

    def _quickest(self, test: str) -> tuple[float, str]:
        return self._seconds.get(test, 1.0), test


def _run_all(tree: Path) -> None:
    """Run all tests but those that copy trees or need the machine, and keep what each executes."""
    apart = [f"--ignore=tests/{name}" for name in _APART]
    packages = [f"--cov=forebay.{name}" for name in PACKAGES]
    contexts = [*packages, "--cov-context=test", "--cov-report=", "-p", "tests.mutants.uncached"]
    spread = ["-n2", "--dist=worksteal"]
    _KEPT.mkdir(exist_ok=True, parents=True)
    before_s = _cpu_s()
    if pytest_in(tree, ["tests", *apart, *contexts, *spread, f"--junitxml={_TIMES}"], _ALL_S) != 0:
        raise SystemExit("tests fail without a mutant: run make test")
    shutil.copy(tree / ".coverage", _DATA)
    passed_s = sum(_seconds(_TIMES).values())
    _LOAD.write_text(str(max(1.0, passed_s / (_cpu_s() - before_s))))


def _cpu_s() -> float:
    """Return the processor's seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _measured(data: coverage.CoverageData) -> set[str]:
    return set(data.measured_files())


def _seconds(path: Path) -> dict[str, float]:
    """Return the seconds of each test, named as pytest takes it."""
    found = {}
    for case in xml.parse(path).iter("testcase"):
        file = case.attrib["classname"].replace(".", "/") + ".py"
        found[f"{file}::{case.attrib['name']}"] = float(case.attrib["time"])
    return found
