"""What each verb prints: one JSON document, or text, or a picture."""

import json
from pathlib import Path

from tests import scenarios as small

import forebay
from forebay.cli import program
from forebay.cli.program import _VERBS


def test_version(forebay_):
    assert forebay_("--version").out == f"forebay {forebay.__version__}\n"


def test_every_verb_has_help(forebay_):
    for verb in _VERBS:
        result = forebay_(verb, "--help")
        assert result.status == 0, f"verb {verb!r}: {result.err}"
        assert _VERBS[verb].split(".")[0] in " ".join(result.out.split())


def test_every_file_with_a_command_is_a_verb():
    for path in Path(program.__file__).parent.glob("*.py"):
        has_command = "\ndef command(" in path.read_text(encoding="utf-8")
        assert not has_command or path.stem in _VERBS, f"verb {path.stem!r} is not in _VERBS"


def test_every_verb_is_on_the_page_of_the_command_line():
    page = Path(__file__).parents[2] / "docs/reference/command-line.md"
    text = page.read_text(encoding="utf-8")
    for verb in _VERBS:
        assert f"    forebay {verb} " in text, f"verb {verb!r} is not in command-line.md"


def test_run_json_is_the_outcome(forebay_, link, scenario):
    more = ("--seed", "7", "--seeds", "3", "--set", "queue.size=64 packets")
    result = forebay_("run", scenario, "--json", *more)
    document = json.loads(result.out)
    assert document["schema"] == 1
    assert document["links"]["bottleneck"]["buffer_packets"] == 64
    assert document["provenance"]["seeds"] == link.seeds == [7, 8, 9]
    assert forebay.Outcome.model_validate(document).engine == "simulation"


def test_compare_json_lists_outcomes_in_order(forebay_, link, scenario):
    chosen = ("--engine", "simulation", "--engine", "theory")
    result = forebay_("compare", scenario, "--json", "--seeds", "1", *chosen)
    assert [each["engine"] for each in json.loads(result.out)["outcomes"]] == [
        "simulation",
        "theory",
    ]


def test_compare_says_what_each_column_has_of_its_own(forebay_, scenario, tmp_path):
    values = ("--engine", "theory", "--vary", "traffic.0.flows=64, 50..200")
    text = forebay_("compare", scenario, *values).out
    rows = [line.split() for line in text.splitlines()]
    assert ["64", "50..200"] in rows and ["flows", "64", "125"] in rows
    saved = tmp_path / "answer.json"
    saved.write_text(forebay_("compare", scenario, *values, "--json").out)
    assert forebay_("report", str(saved)).out == text
    saved.write_text(saved.read_text().replace('"64",', ""))
    refused = forebay_("report", str(saved))
    assert refused.status == 2 and "titles has 1 values, and outcomes 2" in refused.err


def test_compare_says_whose_each_line_is_and_is_printed_again(forebay_, tmp_path):
    """Of three columns the second alone has enough flows for the law."""
    link, saved = tmp_path / "link.toml", tmp_path / "columns.json"
    link.write_text(
        'link.rate = "200 Mbit/s"\nqueue.size = "99 packets"\n'
        '[[traffic]]\nflows = 9\nrtt = { uniform = ["20 ms", "90 ms"] }\n'
    )
    asked = ("compare", str(link), "--engine", "theory", "--vary")
    said = forebay_(*asked, "traffic.0.flows=64,400,90").out
    assert "Assumptions of theory that the scenario of 64, 90 breaks" in said
    saved.write_text(forebay_(*asked, "traffic.0.flows=64,400,90", "--json").out)
    assert forebay_("report", str(saved)).out == said
    faster = forebay_(*asked, "link.rate=1 Gbit/s,2 Gbit/s").out
    assert "\n2 Gbit/s: Assumes access links of 20 Gbit/s, ten times the link.\n" in faster
    assert faster.count("packets of 1500 B") == 1


def test_compare_varies_lists_and_tables(forebay_, scenario):
    """A comma inside a value is no end of it."""
    values = [
        '{ uniform = ["2 ms", "9 ms"] }',
        '{ normal = { mean = "50 ms", deviation = "5 ms" } }',
    ]
    vary = f"traffic.0.rtt={values[0]}, {values[1]}"
    result = forebay_("compare", scenario, "--engine", "theory", "--vary", vary, "--json")
    document = json.loads(result.out)
    trips = [one["scenario"]["traffic"][0]["rtt"] for one in document["outcomes"]]
    assert (document["titles"], [*map(list, trips)]) == (values, [["uniform"], ["normal"]])


def test_compare_has_the_links_of_every_column(forebay_, tmp_path):
    path = tmp_path / "both.toml"
    small.scenario({"link.rate": "2 Mbit/s", "traffic": [{"flows": 1}] * 2}).save(path)
    for ways in ("forward,reverse", "reverse,forward"):
        vary = ("--vary", f"traffic.1.direction={ways}", "--seeds", "1")
        lines = forebay_("compare", str(path), *vary).out.splitlines()
        row = lines[[line.strip() for line in lines].index("link reverse") + 1].split()
        assert row[:2] == ["buffer,", "packets"] and "–" in row[2:]


def test_size_finds_the_known_buffer(forebay_, link, scenario):
    """1 - 2/(100 + B) = 0.99 at B = 100."""
    result = forebay_("size", scenario, "--json", "--set", "goals.utilization=0.99")
    document = json.loads(result.out)
    assert document["buffer"]["packets"] == 100
    assert document["buffer"]["bytes"] == 150_000
    assert document["goals"][0]["binding"] is True
    assert {law["law"] for law in document["laws"]} >= {"appenzeller-2004/sqrt-n"}


def test_size_draws_beside_the_json(forebay_, link, scenario, tmp_path):
    picture = tmp_path / "out.svg"
    result = forebay_("size", scenario, "--json", "--figure", str(picture))
    json.loads(result.out)
    assert picture.read_text().startswith("<?xml")
    assert str(picture) in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["out.svg"], "nothing else is left"


def test_an_interrupted_size_keeps_what_it_found(forebay_, link, scenario):
    link.stop_after = 3
    result = forebay_("size", scenario, "--json", "--set", "goals.utilization=0.99")
    assert result.status == 130
    assert len(json.loads(result.out)["curve"]) == 3
    assert result.err.count("\n") == 1 and "a new start reuses" in result.err
