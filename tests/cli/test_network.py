"""``forebay network``: files in, files out, one line for what is wrong."""

import csv
import json
from pathlib import Path

import pytest

from forebay.cli.program import call

LOT = Path(__file__).resolve().parents[1] / "topology" / "parking-lot.toml"


def test_links_paths_graphml_and_picture_are_written(tmp_path, capsys):
    names = {"--links": "l.csv", "--paths": "p.csv", "--graphml": "n.graphml", "--figure": "n.svg"}
    options = [part for option, name in names.items() for part in (option, str(tmp_path / name))]
    assert call(["network", str(LOT), "--json", *options]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["engine"] == "network" and len(answer["links"]) == 9
    assert {"class", "flows"} <= answer["links"]["A->B"].keys()
    rows = list(csv.DictReader((tmp_path / "p.csv").read_text().splitlines()))
    assert sum(float(row["connections"]) for row in rows) == pytest.approx(400)
    assert all(name in {path.name for path in tmp_path.iterdir()} for name in names.values())


def test_what_was_written_as_graphml_is_read_again(tmp_path, capsys):
    out = tmp_path / "n.graphml"
    assert call(["network", str(LOT), "--graphml", str(out)]) == 0
    assert call(["network", str(out), "--connections", "50", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out.partition("\n{")[2].join(["{", ""]))
    assert answer["network"]["connections"] == 50
