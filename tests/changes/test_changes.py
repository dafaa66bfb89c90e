"""Six changes as a contributor makes them: their places are counted, and none can be left out.

Each is tests/changes/<name>/change.patch, applied to a copy of the tree. Commands write what is
generated, and then the named tests run in the copy. With any one place left out, a command or a
test fails, and names the thing. What must be compiled is checked by `cargo check`; `make long`
builds it and runs it (`test_built.py`).
"""

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from tests.cases import cases

from .patches import ROOT, Copy, Place, places_of

Command = tuple[str, ...]


def pytest_of(*names: str) -> Command:
    """Return the command that runs tests until the first one fails."""
    return ("python", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *names)


GENERATED: Command = ("python", "-m", "generate")
RUN_PULSES: Command = (
    "python",
    "-c",
    """
from forebay import Link, Pulse, Scenario, run
pulses = Pulse(flows=3, rate="100 kbit/s", burst=4)
scenario = Scenario(link=Link(rate="10 Mbit/s"), traffic=[pulses], queue={"size": "3 packets"})
(one,) = run(scenario, engine="simulation", seeds=1).classes
assert abs(one.throughput_bps.value / 3e5 - 1) < 0.05, one.throughput_bps
""",
)
CARGO: Command = ("cargo", "check", "--locked", "--quiet", "-p", "forebay-sim")
CONTROLS = "tests/catalogue/test_controls.py"
KINDS = "tests/catalogue/test_disciplines_and_kinds.py"


@dataclass(frozen=True)
class Change:
    """One addition.

    Attributes
    ----------
    page : how it is done, of docs/how-to.
    named : pattern of its name; what fails without a place must contain it.
    places : hand-edited places, without its own test.
    generates : commands that write generated files which the checks compare.
    checks : commands that pass with all places, and of which one fails without one of them.
    also : commands that pass with all places.
    """

    page: str
    named: str
    places: int
    generates: tuple[Command, ...]
    checks: tuple[Command, ...]
    also: tuple[Command, ...] = ()


CHANGES = {
    "metric": Change(
        "add-a-metric.md", "class.drops", 3,
        (GENERATED,),
        (pytest_of("tests/catalogue/test_metrics.py"),),
    ),
    "control": Change(
        "add-a-congestion-control.md", "gentle", 2,
        (GENERATED,),
        (pytest_of(CONTROLS, "-k", "list or file or consistent"), CARGO),
        (GENERATED, pytest_of("tests/scenario/test_reference.py")),
    ),
    "discipline": Change(
        "add-a-queue-discipline.md", "pfifo_reserve", 5,
        (),
        (pytest_of(KINDS, "-k", "simulator or reference or fields"), CARGO),
        (GENERATED, pytest_of("tests/scenario/test_reference.py")),
    ),
    "traffic_kind": Change(
        "add-a-traffic-kind.md", "[Pp]ulse", 8,
        (),
        (pytest_of(KINDS, "tests/python/test_docs.py", "-k", "kind or namespace or model"),),
        (GENERATED, pytest_of("tests/scenario/test_reference.py"), RUN_PULSES),
    ),
    "option": Change(
        "add-a-senders-option.md", "prr", 4,
        (),
        (pytest_of("tests/engines/test_sender_options.py"), pytest_of("tests/words")),
        (GENERATED, pytest_of("tests/scenario/test_reference.py")),
    ),
    "verb": Change(
        "add-a-verb.md", "laws", 3,
        (),
        (pytest_of("tests/cli/test_verbs.py", "-k", "every_verb or every_file"),),
    ),
}  # fmt: skip
AT_MOST = {"metric": 4, "control": 2, "traffic_kind": 8}
"""What the issue asks for; before, a metric had 18 places, a control 10 and a kind 25."""


def counted(name: str) -> list[Place]:
    return [place for place in places_of(name) if not place.is_its_test]


def failure(copy: Copy, commands: Sequence[Command]) -> str:
    """Return what the first command that fails printed; "" if all pass."""
    for command in commands:
        done = copy.run(*command, CARGO_TARGET_DIR=str(ROOT / "target"))
        if done.returncode != 0:
            return done.stdout or f"{command} failed"
    return ""


@pytest.fixture(autouse=True)
def _tools() -> None:
    for tool in ("git", "cargo"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


@pytest.mark.parametrize("name", CHANGES)
def test_its_places_are_counted(name):
    places = counted(name)
    assert len(places) == CHANGES[name].places, [str(place) for place in places]
    assert len(places) <= AT_MOST.get(name, len(places))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """A copy that nothing changes."""
    return Copy.at(tmp_path_factory.mktemp("tree"))


@pytest.mark.parametrize("name", CHANGES)
def test_its_patch_applies(name, tree):
    """What it needs of the tree has the names and places that it expects."""
    tree.apply(places_of(name), "--check")


@pytest.mark.long
@pytest.mark.parametrize("name", CHANGES)
def test_a_copy_with_all_places_passes(name, tmp_path):
    copy = Copy.at(tmp_path)
    copy.apply(places_of(name))
    change = CHANGES[name]
    assert failure(copy, (*change.generates, *change.checks, *change.also)) == ""


@pytest.mark.parametrize("name", CHANGES)
def test_the_page_names_its_places(name):
    """Its table has a row for each place; CONTRIBUTING.md has their number."""
    page = (ROOT / "docs/how-to" / CHANGES[name].page).read_text(encoding="utf-8")
    table = page.partition("## Its places")[2].partition("\n\n## ")[0]
    thing = CHANGES[name].named.replace("[Pp]", "p")
    rows = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    named = sorted(row.replace("<name>", thing) for row in rows)
    assert named == sorted(place.path for place in counted(name))
    for command in (*CHANGES[name].generates, *CHANGES[name].also):
        assert command is not GENERATED or "make generated" in page
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"[{len(rows)} places](docs/how-to/{CHANGES[name].page})" in table


PLACES = [(name, place) for name in CHANGES for place in range(CHANGES[name].places)]


@pytest.mark.parametrize("case", cases(PLACES, ("metric", 0).__eq__), ids=str)
def test_a_place_that_is_left_out_fails_with_the_name(case, tmp_path):
    name, left_out = case
    omitted = counted(name)[left_out]
    copy = Copy.at(tmp_path)
    copy.apply([place for place in places_of(name) if place != omitted])
    said = failure(copy, (*CHANGES[name].generates, *CHANGES[name].checks))
    assert said, f"nothing fails without {omitted}"
    told = [line for line in said.splitlines() if re.search(CHANGES[name].named, line)]
    assert told, f"without {omitted} this does not name it: {said[-2000:]}"


PROPERTIES = {
    "metric": "scaling",
    "control": "paced",
    "discipline": "sized",
    "traffic_kind": "lasts",
}


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_property_left_out_of_a_record_fails_at_import_with_its_name(name, tmp_path):
    copy = Copy.at(tmp_path)
    (record,) = (p for p in places_of(name) if p.path.startswith("src/forebay/catalogue"))
    stated = rf"^(\+.*)\b{PROPERTIES[name]}=[^,]*, ?"
    body, left_out = re.subn(stated, r"\1", record.body, flags=re.MULTILINE)
    assert left_out == 1
    copy.apply([replace(record, body=body)])
    said = copy.run("python", "-c", "import forebay.catalogue").stdout.splitlines()[-1]
    assert re.search(rf"{CHANGES[name].named}' does not state {PROPERTIES[name]}", said)


def test_an_engine_with_a_core_that_lacks_the_control_says_make_setup(tmp_path):
    copy = Copy.at(tmp_path)
    copy.apply(places_of("control"))
    text = "from forebay.engines.simulation import SimulationEngine; SimulationEngine()"
    said = copy.run("python", "-c", text).stdout.splitlines()[-1]
    assert "'gentle'" in said and "run `make setup`" in said
