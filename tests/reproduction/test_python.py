"""`forebay.reproduce` and `forebay.artefacts`: what a script or a notebook has of them."""

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import forebay
from forebay.reproduction import Artefact, Entry, UnknownArtefact, entries, papers

PAPERS = Path(papers.__file__).parent


def test_one_artefact_as_result_text_json_and_html() -> None:
    made = forebay.reproduce("A.eq6")
    assert isinstance(made, forebay.Reproduction) and made.agrees
    assert repr(made) == "<Reproduction appenzeller-2004/eq6: 3 of 3 rows are in their band>"
    document = json.loads(made.to_json())
    assert document == json.loads(json.dumps(made.to_dict()))
    assert [row["in_band"] for row in document["rows"]] == [True, True, True]
    html = made._repr_html_()
    assert "<svg" in html and html.count("<tr>") == 1 + len(made.rows)


def test_all_are_listed_and_those_of_one_paper() -> None:
    every = forebay.artefacts()
    pages = {path.parent for path in PAPERS.glob("*/*/README.md") if path.parent.name != "film"}
    assert len(every) == len(set(every)) and {each.folder for each in entries()} == pages
    assert forebay.artefacts("D") == forebay.artefacts("yang-2013")
    assert set(forebay.artefacts("D")) == {name for name in every if name.startswith("yang-2013/")}
    assert set(papers.KEYS.values()) <= {name.partition("/")[0] for name in every}


@pytest.mark.parametrize("name", ["A.fig99", "E", "", "../A/fig15", "A.fig15.artefact"])
def test_an_unknown_name_is_refused_with_a_hint(name: str) -> None:
    with pytest.raises(UnknownArtefact, match="there is no such artefact; "):
        forebay.reproduce(name)


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_every_artefact_keeps_to_the_protocol(entry: Entry) -> None:
    artefact: Any = entry.load()
    assert isinstance(artefact, Artefact)
    assert entry.folder == artefact.folder  # type: ignore[attr-defined]
    taken = inspect.signature(artefact.reproduce).parameters
    assert list(taken) == ["effort", "quick"]
