"""``forebay network``: files in, files out, one line for what is wrong."""

import csv
import json
from pathlib import Path

import pytest

LOT = Path(__file__).resolve().parents[1] / "topology" / "parking-lot.toml"


def test_links_paths_picture_and_graphml_which_is_read_again_are_written(tmp_path, printed):
    names = {"--links": "l.csv", "--paths": "p.csv", "--graphml": "n.graphml", "--figure": "n.svg"}
    options = " ".join(f"{option} {tmp_path / name}" for option, name in names.items())
    answer = json.loads(printed(f"network {LOT} --json {options}"))
    assert answer["engine"] == "network" and len(answer["links"]) == 9
    assert {"class", "flows"} <= answer["links"]["A->B"].keys()
    rows = list(csv.DictReader((tmp_path / "p.csv").read_text().splitlines()))
    assert sum(float(row["connections"]) for row in rows) == pytest.approx(400)
    assert all(name in {path.name for path in tmp_path.iterdir()} for name in names.values())
    again = json.loads(printed(f"network {tmp_path / 'n.graphml'} --connections 50 --json"))
    assert again["network"]["connections"] == 50
