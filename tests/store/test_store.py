"""What a store promises: whole rows, found again only where they belong, refusals in one line."""

import os
import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Barrier

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import cases, examples

import forebay
from forebay import engines
from forebay.effort import DEFAULT
from forebay.engines.base import ReplicatingEngine, Replication
from forebay.scenario import Scenario, loads
from forebay.store import Store, StoredEngine, StoreError, file, with_store
from forebay.store.file import NotReadable, from_blob, to_blob

TEXT = (
    '[link]\nrate = "10 Mbit/s"\n[queue]\nsize = "20 packets"\n'
    '[[traffic]]\nflows = 3\nrtt = "20 ms"\nstart = "0 s"\n'
    '[measure]\nwarmup = "1 s"\nduration = "2 s"\n[goals]\nutilization = 0.9\n'
)


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return loads(TEXT)


def simulation() -> ReplicatingEngine:
    made = engines.get("simulation")
    assert isinstance(made, ReplicatingEngine)
    return made


class Counting(ReplicatingEngine):
    """Counts what it is asked to make."""

    name = "simulation"

    def __init__(self) -> None:
        self._engine, self.made = simulation(), []

    def replications(self, scenario, seeds, effort=DEFAULT):
        self.made.append(list(seeds))
        return self._engine.replications(scenario, seeds, effort)

    def outcome(self, scenario, replications, wall_s):
        return self._engine.outcome(scenario, replications, wall_s)


def without_time(outcome: forebay.Outcome) -> dict:
    document = outcome.to_dict()
    del document["provenance"]["wall_s"]
    return document


EVERY_KIND = """
link.rate = "20 Mbit/s"
queue.discipline = "fq_codel"
measure = { warmup = "1 s", duration = "2 s" }
goals = { queue_delay_p99 = "10 ms", utilization = { at_least = 0.9, probability = 0.9 } }
traffic = [
    { flows = 4, congestion_control = { cubic = 0.5, bbr = 0.5 }, rtt = "20 ms" },
    { kind = "short", load = 0.2, length = "20 packets", rtt = "20 ms" },
    { kind = "udp", flows = 2, rate = "100 kbit/s" },
]
"""


@pytest.mark.parametrize("text", [TEXT, EVERY_KIND])
def test_a_stored_replication_gives_the_same_outcome(text, tmp_path):
    scenario = loads(text)
    fresh = simulation().run(scenario, [1, 2, 3])
    with Store(tmp_path / "s") as store:
        first = StoredEngine(simulation(), store).run(scenario, [1, 2, 3])
        again = StoredEngine(counting := Counting(), store).run(scenario, [1, 2, 3])
    assert counting.made == []
    assert without_time(fresh) == without_time(first) == without_time(again)


def test_only_missing_seeds_are_made(scenario, tmp_path):
    with Store(tmp_path / "s") as store:
        engine = StoredEngine(counting := Counting(), store)
        engine.run(scenario, [1, 2])
        engine.run(scenario, [2, 3, 4])
        engine.run(scenario, [4, 1])
    assert counting.made == [[1, 2], [3, 4]]


def test_other_code_another_scenario_and_another_engine_are_not_taken(scenario, tmp_path):
    made = simulation().replications(scenario, [1])
    with Store(tmp_path / "s") as store:
        store.add(scenario, "simulation", "a", made)
        assert set(store.replications(scenario, "simulation", "a", [1, 2])) == {1}
        assert not store.replications(scenario, "simulation", "b", [1])
        assert not store.replications(scenario, "testbed", "a", [1])
        other = scenario.with_buffer(21)
        assert not store.replications(other, "simulation", "a", [1])


def test_a_damaged_row_is_made_again(scenario, tmp_path):
    with Store(tmp_path / "s") as store:
        engine = StoredEngine(counting := Counting(), store)
        engine.run(scenario, [1])
        store._connection.execute("UPDATE replications SET replication = x'00'")
        engine.run(scenario, [1])
        engine.run(scenario, [1])
    assert counting.made == [[1], [1]]


def test_an_engine_without_replications_needs_no_store(tmp_path):
    theory = engines.get("theory")
    with Store(tmp_path / "s") as store:
        assert with_store(theory, store) is theory


@settings(max_examples=examples(200))
@given(data=st.data())
def test_hostile_bytes_are_not_readable(data):
    blob = bytearray(_blob())
    for _ in range(data.draw(st.integers(1, 4))):
        blob[data.draw(st.integers(0, len(blob) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = from_blob(bytes(blob[: data.draw(st.integers(0, len(blob)))]))
    except NotReadable:
        return
    assert isinstance(found, Replication)


@cache
def _blob() -> bytes:
    return to_blob(simulation().replications(loads(TEXT), [1])[1])


def test_a_bomb_is_not_unpacked():
    with pytest.raises(NotReadable):
        from_blob(zlib.compress(b"\0" * 2**24))


def _newer(path: Path) -> None:
    with Store(path) as store:
        store._connection.execute("PRAGMA user_version=99")


def _foreign(path: Path) -> None:
    sqlite3.connect(path).execute("CREATE TABLE theirs (x)").connection.close()


def _damaged(path: Path) -> None:
    """Damage the name of a table, which SQLite then quotes."""
    Store(path).close()
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE layouts", b"\x8eREATE TABLE layouts"))


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "damaged": (_damaged, "is damaged"),
    "a folder": (Path.mkdir, "is a folder"),
    "text": (lambda path: path.write_text("no database at all" * 100), "is not a store"),
    "foreign": (_foreign, "another program's"),
    "newer": (_newer, "a newer Forebay"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_store_is_refused_in_one_line_and_left_alone(kind, tmp_path):
    make, said = REFUSED[kind]
    path = tmp_path / "s"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError, match=said) as refused:
        Store(path)
    assert "\n" not in str(refused.value) and str(path) in str(refused.value)
    assert refused.value.exit_status == 2
    assert before == (path.read_bytes() if path.is_file() else None)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(StoreError, match="does not exist"):
        Store(tmp_path / "none" / "s")


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes an ordinary user")
def test_a_folder_that_is_read_only_for_an_ordinary_user():
    with TemporaryDirectory() as name:  # pytest's own is closed to others
        Path(name).chmod(0o755)
        code = (
            "import os, sys\nfrom forebay.store import Store, StoreError\nos.setuid(65534)\n"
            "try:\n    Store(sys.argv[1])\nexcept StoreError as error:\n    print(error)\n"
        )
        words = [sys.executable, "-c", code, f"{name}/s"]
        done = subprocess.run(words, capture_output=True, text=True)
        assert "cannot be written there" in done.stdout, done.stderr
        assert not list(Path(name).iterdir())


WRITER = """
import sys
from forebay import engines
from forebay.scenario import loads
from forebay.store import Store, StoredEngine
path, first, text = sys.argv[1], int(sys.argv[2]), sys.stdin.read()
with Store(path) as store:
    engine = StoredEngine(engines.get("simulation"), store)
    print("ready", flush=True)
    for seed in range(first, first + 12):
        engine.run(loads(text), [seed])
        print(seed, flush=True)
"""


def writer(path: Path, first: int) -> subprocess.Popen[str]:
    made = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(first)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    made.stdin.write(TEXT)
    made.stdin.close()
    return made


def stored(path: Path) -> list[int]:
    with Store(path) as store:
        rows = store._connection.execute("SELECT seed FROM replications ORDER BY seed").fetchall()
    return [seed for (seed,) in rows]


def test_two_writers_of_the_same_replications_keep_each_once(tmp_path):
    both = [writer(tmp_path / "s", first) for first in (1, 7)]
    for each in both:
        with each:
            each.stdout.read()
    assert [each.returncode for each in both] == [0, 0]
    assert stored(tmp_path / "s") == list(range(1, 19))


def test_several_that_begin_a_store_at_once_wait_for_each_other(tmp_path):
    together = Barrier(4, timeout=20.0)

    def begin(n: int) -> None:
        together.wait()
        Store(tmp_path / f"{n // 4}.sqlite").close()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(begin, range(4 * 50))) == [None] * 200


def test_a_store_that_another_makes_meanwhile_is_not_foreign(tmp_path, monkeypatch):
    """The other one commits between two reads of the check, if it can."""
    path, number = tmp_path / "s", file._number

    def meanwhile(connection: sqlite3.Connection, pragma: str) -> int:
        found = number(connection, pragma)
        if not other:
            code = f"from forebay.store import Store; Store({str(path)!r}).close()"
            other.append(subprocess.Popen([sys.executable, "-c", code]))
            time.sleep(2.0)  # it starts, and waits for the end of our read
        return found

    other: list[subprocess.Popen[bytes]] = []
    path.touch()
    monkeypatch.setattr(file, "_number", meanwhile)
    with Store(path) as store:
        assert store.count == 0
    assert other[0].wait(30) == 0


@pytest.mark.parametrize("after", cases([1, 2, 5, 9], (1, 5).__contains__))
def test_a_killed_writer_loses_nothing_that_it_said(after, tmp_path):
    with writer(tmp_path / "s", 1) as made:
        said = [made.stdout.readline() for _ in range(after + 1)][1:]
        made.kill()
        said += made.stdout.read().splitlines()
    kept = stored(tmp_path / "s")
    assert [int(line) for line in said if line.strip()] == kept[: len(said)]
    assert len(kept) <= len(said) + 1


def test_progress_ends_at_one_also_where_all_is_stored(scenario, tmp_path):
    for _ in range(2):
        told: list[float] = []
        forebay.run(scenario, seeds=2, store=tmp_path / "s.sqlite", progress=told.append)
        assert told[-1] == 1.0
