"""Artefacts are found by where they lie, and their verdicts become the exit status."""

import json

import pytest

import forebay

ARTEFACT = """
from __future__ import annotations
from dataclasses import dataclass
from forebay.report import Reproduction

@dataclass(frozen=True)
class Row:
    ours: float

def reproduce(seeds, jobs, progress):
    progress(1.0)
    return Reproduction(
        artefact="Z.tab1", title="Paper Z, Table 1", columns=["flows", "printed", "ours"],
        rows=[[1, 97.0, Row(97.5).ours], [2, 99.0, float(seeds)]],
        verdicts=[True, seeds == 5], reasons=["", "" if seeds == 5 else "far off"],
    )
"""


@pytest.fixture
def papers(tmp_path, monkeypatch):
    folder = tmp_path / "papers" / "Z" / "tab1"
    folder.mkdir(parents=True)
    (folder / "artefact.py").write_text(ARTEFACT)
    package = tmp_path / "src" / "forebay" / "__init__.py"
    monkeypatch.setattr(forebay, "__file__", str(package))
    monkeypatch.chdir(tmp_path)
    return folder


def test_list(forebay_, papers):
    assert forebay_("reproduce", "--list").out == "Z.tab1\n"


def test_in_its_band_is_0(forebay_, papers):
    result = forebay_("reproduce", "Z.tab1")
    assert result.status == 0
    assert "2 of 2 rows lie in their band" in result.out


def test_out_of_its_band_is_1_and_says_why(forebay_, papers):
    result = forebay_("reproduce", "Z.tab1", "--seeds", "2")
    assert result.status == 1
    assert "OUT" in result.out and "2: far off" in result.out


def test_json_of_one_and_of_all(forebay_, papers):
    one = json.loads(forebay_("reproduce", "Z.tab1", "--json").out)
    assert one["agrees"] is True and one["rows"][0]["cells"] == [1, 97.0, 97.5]
    every = json.loads(forebay_("reproduce", "--json").out)
    assert every["artefacts"] == [one]


def test_figure(forebay_, papers, tmp_path):
    forebay_("reproduce", "Z.tab1", "--figure", str(tmp_path / "z.png"))
    assert (tmp_path / "z.png").read_bytes().startswith(b"\x89PNG")


def test_without_papers_it_is_3(forebay_, papers):
    (papers / "artefact.py").unlink()
    result = forebay_("reproduce", "--list")
    assert result.status == 3 and "clone" in result.err
