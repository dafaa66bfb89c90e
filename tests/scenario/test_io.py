"""Bad files, and values in place of a file's: one line that names the file, the field and more."""

import os
from pathlib import Path

import pytest
from tests.refused import refused

from forebay.scenario import load, loads
from forebay.words import Notation

from .build import SMALLEST


@pytest.mark.parametrize(
    ("text", "place", "code", "said"),
    [
        ("", "link", "missing", "[link]"),
        ('[lnik]\nrate = "1 Gbit/s"', "lnik", "unknown-key", 'write "link"'),
        ("[link]\n[[traffic]]\nflows=1", "link.rate", "missing", 'rate = "155 Mbit/s"'),
        ('[link]\nrate="1 Gbit/s"', "traffic", "missing", "[[traffic]]"),
        ('[link]\nrate="1 Gbit/s"\n[[traffic]]', "traffic.0.flows", "missing", "100"),
        ('[link]\nrate="1 Gbit/s"\n[traffic]\nflows=1', "traffic", "wrong-type", "[[traffic]]"),
        ('[link]\nrate = "1 Gbit/s\n', "", "toml-syntax", "line 2"),
        ("a = " + "[" * 100_000, "", "toml-syntax", "nested too deeply"),
        ("a = 1" + "0" * 5000, "", "toml-syntax", "digits"),
        (SMALLEST + "speed = 3", "traffic.0.speed", "unknown-key", "write "),
        (SMALLEST + '"a\\nb" = 3', "traffic.0.a\nb", "unknown-key", "flows"),
        (SMALLEST + "[[traffic]]\nflows = 10_000_000", "traffic", "out-of-range", "all"),
        # The file is blamed for its own mistake, whatever is replaced beside it.
        (SMALLEST.replace("155 Mbit/s", "155"), "link.rate", "no-unit", "155 Mbit/s"),
    ],
)
def test_bad_files(text: str, place: str, code: str, said: str) -> None:
    sets = ["traffic.0.flows=7"] if place == "link.rate" and "155" in text else []
    with refused(None, code, place) as error:
        loads(text, source="x.toml", overrides=sets)
    assert str(error.value).startswith("x.toml: ") and said in str(error.value)


def test_files_that_cannot_be_scenarios(tmp_path: Path) -> None:
    latin, pipe = tmp_path / "latin.toml", tmp_path / "pipe.toml"
    latin.write_bytes(b'name = "a"\n# caf\xe9\n')
    os.mkfifo(pipe)
    for path, code in [
        (tmp_path / "none.toml", "file-missing"),
        (tmp_path, "file-directory"),
        (latin, "not-utf8"),
        (latin / "below.toml", "file-unreadable"),
        (Path("/dev/zero"), "file-unreadable"),
        (pipe, "file-unreadable"),
    ]:
        with refused(f"^{path}", code):
            load(path)


def test_overrides_are_toml_values_or_else_text() -> None:
    sets = (
        "queue.size=64 packets",
        'traffic.0.rtt={uniform=["30 ms","90 ms"]}',
        "traffic.0.rtt.uniform.1=70 ms",
        "goals.utilization=0.5",
        "name=a = b",
    )
    scenario = loads(SMALLEST, overrides=sets)
    assert scenario.buffer_packets == 64
    assert scenario.mean_rtt == pytest.approx(0.05)
    assert (scenario.goals.utilization, scenario.name) == (0.5, "a = b")


def test_an_override_mends_a_broken_file() -> None:
    broken = SMALLEST.replace("155 Mbit/s", "155")
    assert loads(broken, overrides=["link.rate=1 Gbit/s"]).link.rate == 1e9


def test_the_hint_is_in_the_words_of_where_it_is_read() -> None:
    with refused("write true or false"):
        loads(SMALLEST + "sack = 3\n")
    with refused(r"^overrides: link\.rate") as found:
        loads(SMALLEST, overrides=["link.rate=3"])
    assert found.value.worded(Notation.COMMAND_LINE).startswith("--set: link.rate")


@pytest.mark.parametrize(
    "written",
    [
        "link.rate_trace={ file = 'mine.csv' }",
        "link.rate_trace.file=mine.csv",
        "link.rate_trace=mine.csv",
    ],
)
def test_a_file_of_an_override_is_one_of_the_current_folder(tmp_path, monkeypatch, written):
    (tmp_path / "mine.csv").write_text("0 s,10 Mbit/s\n60 s,20 Mbit/s\n")
    monkeypatch.chdir(tmp_path)
    assert load("cellular-4g", [written]).link.rate_trace.file.path.endswith("/mine.csv")


def test_a_file_of_an_override_that_is_not_there_is_one_beside_the_scenario():
    made = load("cellular-4g", ["link.rate_trace.file=traces/cellular-5g.csv"])
    assert made.link.rate_trace.file.path.endswith("/cellular-5g.csv")


def test_a_word_of_an_override_that_is_also_a_file_stays_a_word(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    changes = {"traffic.0.congestion_control": "cubic", "queue.discipline": "codel"}
    for word in changes.values():
        (tmp_path / word).write_text("")
    made = load("cellular-4g", [f"{path}={word}" for path, word in changes.items()])
    assert made == load("cellular-4g").replace(changes)
