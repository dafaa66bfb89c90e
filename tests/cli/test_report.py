"""`forebay report`: what was printed as JSON is printed again, word for word."""

import io
import json
import os
import sys
from pathlib import Path

import pytest
from tests.scenarios import PAIR

QUICK = ("--set", "measure.warmup=1 s", "--set", "measure.duration=1 s", "--seeds", "1")
COMPARED = ("--engine", "simulation", "--engine", "theory")


@pytest.mark.parametrize(
    "verb",
    [
        ("size", "--engine", "theory"),
        ("run", *QUICK),
        ("compare", *COMPARED),
        ("trace", *QUICK[:4]),
    ],
    ids=lambda verb: verb[0],
)
def test_a_document_is_printed_again_word_for_word(forebay_, scenario, tmp_path, verb):
    name, *rest = verb
    slow = ("--set", "link.rate=10 Mbit/s")
    document = forebay_(name, scenario, *rest, *slow, "--json").out
    path = tmp_path / "answer.json"
    path.write_text(document)
    printed = forebay_("report", str(path))
    assert (printed.status, printed.err) == (0, "")
    assert printed.out == forebay_(name, scenario, *rest, *slow).out
    again = forebay_("report", str(path), "--json").out
    assert json.loads(again) == json.loads(document)


@pytest.mark.parametrize("asked", ["--emit junos", "--emit sonic", "--halves", "--chip-ports 8"])
def test_a_sizing_is_printed_again_with_what_was_asked_beside_it(
    forebay_, scenario, tmp_path, asked
):
    size = ("size", scenario, "--engine", "theory", *asked.split())
    path = tmp_path / "answer.json"
    path.write_text(forebay_(*size, "--json").out)
    said = forebay_(*size).out
    assert forebay_("report", str(path)).out == said
    # All evidence can be asked for later, and is there once.
    evidence, _, made = forebay_(*size, "--explain").out.partition("\nConfiguration for")
    assert forebay_("report", str(path), "--explain").out.startswith(evidence)
    assert evidence.count("What would change it") == 1
    written = json.loads(path.read_text())["configuration"]
    assert bool(made) == ("emit" in asked) and said.endswith(written["text"] if made else "\n")


def test_a_network_is_printed_again_as_the_engine_s_run_was(forebay_, tmp_path):
    link, path = tmp_path / "net.toml", tmp_path / "answer.json"
    link.write_text(PAIR)
    path.write_text(forebay_("network", str(link), "--json").out)
    said = forebay_("network", str(link)).out
    assert said and said == forebay_("report", str(path)).out
    assert said == forebay_("run", str(link), "--engine", "network").out
    refused = forebay_("report", str(path), "--explain")
    assert refused.status == 2 and "has no further evidence" in refused.err


def test_standard_input_is_read_and_drawn(forebay_, scenario, tmp_path, monkeypatch):
    document = forebay_("size", scenario, "--engine", "theory", "--json").out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(document.encode())))
    result = forebay_("report", "-", "--figure", str(tmp_path / "a.svg"))
    assert result.status == 0 and "Recommended: 128 packets" in result.out
    forebay_("size", scenario, "--engine", "theory", "--figure", str(tmp_path / "b.svg"))
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('{"schema": 99, "buffer": null}', "schema 99 is newer than 1"),
        ('{"schema": 99, "outcomes": []}', "schema 99 is newer than 1"),
        ('{"schema": 1, "estimates": {}}',
         "is no document of run, compare, size, sensitivity, trace or network"),
        ('{"schema": 1, "buffer": {"packets": "many"}}', "buffer"),
        ("[1]", "is no document of run"),
        ("link.rate = 5", "is no JSON"),
        ("", "is no JSON"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_in_one_line(forebay_, tmp_path, monkeypatch, text, wrong):
    monkeypatch.chdir(tmp_path)  # a long path would be cut
    path = Path("answer.json")
    path.write_text(text)
    for call in (
        ("report", str(path)),
        ("platforms", "emit", "--platform", "junos", "--answer", str(path)),
    ):
        result = forebay_(*call)
        assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
        assert wrong in result.err or (call[0] == "platforms" and "99" not in text)
        assert os.fspath(path) in result.err


def test_no_outcome_at_all_is_said_and_has_no_picture(forebay_, tmp_path):
    path = tmp_path / "none.json"
    path.write_text('{"schema": 1, "outcomes": []}')
    assert "No engine" in forebay_("report", str(path)).out
    result = forebay_("report", str(path), "--figure", str(tmp_path / "a.svg"))
    assert result.status == 2 and "what has several answers has no picture" in result.err
    assert list(tmp_path.iterdir()) == [path]


def test_a_figure_over_what_is_read_is_refused(forebay_, tmp_path):
    path = tmp_path / "a.svg"
    path.write_text("{}")
    result = forebay_("report", str(path), "--figure", str(path))
    assert result.status == 2 and "is read by this command" in result.err
    assert path.read_text() == "{}"
