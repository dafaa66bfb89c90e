"""The pages about Python: their code runs and type-checks, their list is the namespace."""

import re
from pathlib import Path

import pytest

import forebay

from .checking import mypy

DOCS = Path(__file__).parents[2] / "docs"
TUTORIAL = DOCS / "tutorial" / "in-python.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[str]:
    return BLOCK.findall(TUTORIAL.read_text(encoding="utf-8"))


def test_the_tutorial_runs_and_prints_its_remarks(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for number, block in enumerate(blocks()):
        exec(compile(block, f"{TUTORIAL.name}, block {number + 1}", "exec"), names)
    assert len(blocks()) >= 12
    assert (tmp_path / "utilization.svg").stat().st_size > 1000
    reached = names["reached"]
    assert isinstance(reached, list) and reached[0] < reached[-1] <= 1
    (mistakes,) = (each for each in blocks() if "except" in each)
    remarks, printed = re.findall(r"# (.*), …$", mistakes, re.MULTILINE), capsys.readouterr().out
    assert len(remarks) == 2 and all(remark in printed for remark in remarks)


@pytest.mark.lint
def test_the_tutorial_type_checks(tmp_path):
    (tmp_path / "tutorial.py").write_text("\n".join(blocks()))
    assert mypy(tmp_path / "tutorial.py") == []


def test_the_reference_lists_the_namespace():
    page = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")
    table = page.partition("| group |")[2].partition("\n\n")[0]
    assert re.findall(r"`(\w+)`", table) == forebay.__all__


def test_every_public_name_is_there_and_explained():
    for name in forebay.__all__:
        assert getattr(forebay, name).__doc__, name
    assert set(forebay.__all__) <= set(dir(forebay))
    assert not hasattr(forebay, "nothing")
