"""The reference pages are what the model says."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from generate import scenario_reference as reference

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
_RENEW = "run: make generated"


@pytest.mark.parametrize(
    ("name", "made"),
    [("scenario.schema.json", reference.schema()), ("scenario.md", reference.markdown())],
)
def test_pages_are_fresh(name: str, made: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == made, _RENEW


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node:
        if isinstance(child, dict | list):
            yield from _nodes(child)


def test_schema_accepts_its_own_examples_and_defaults() -> None:
    checked = 0
    for node in _nodes(json.loads(reference.schema())):
        if "pattern" in node:
            for text in [*node.get("examples", ()), *filter(None, [node.get("default")])]:
                assert re.search(node["pattern"], text), text
                checked += 1
    assert checked > 8


def test_every_field_is_explained() -> None:
    tables = json.loads(reference.schema())
    for table in [tables, *tables["$defs"].values()]:
        for name, field in table.get("properties", {}).items():
            table_of = tables["$defs"].get(field.get("$ref", "").rpartition("/")[2], {})
            assert field.get("description") or table_of.get("description"), name


def test_the_page_lists_what_is_nested_in_traffic() -> None:
    page = reference.markdown()
    for part in ("[traffic.schedule]", "[[traffic.transfers]]", "[traffic.size]"):
        assert page.count(f"## `{part}`") == 1
    assert '| `published` |  | `"web-search"`, `"data-mining"`, `"hadoop"` |' in page
    kinds = re.findall(r"^## `\[\[traffic\]\]` of kind (.*?)(?=^## )", page, flags=re.M | re.S)
    assert len(kinds) >= 9
    scheduled = {kind.partition("\n")[0] for kind in kinds if "| `schedule` | table |" in kind}
    assert scheduled >= {'"long"', '"udp"', '"onoff"', '"video"', '"replay"'}
    assert not scheduled & {'"short"', '"transfers"', '"session"', '"requests"'}
