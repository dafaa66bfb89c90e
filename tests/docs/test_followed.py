"""Every block of the pages that say how something is done is followed, as a reader does."""

import shutil
import tomllib
from pathlib import Path

import pytest
from tests.cases import cases

import forebay
from forebay.engines.testbed import machine

from .blocks import LANGUAGES, blocks_of
from .reader import BEFORE, ROOT, WORDS, begun, settle
from .running import Reader, follow

FOLDERS = ("tutorial", "how-to", "sizes")
PAGES = [
    ROOT / "README.md",
    *(page for folder in FOLDERS for page in sorted((ROOT / "docs" / folder).glob("*.md"))),
]
BLOCKS = {str(page.relative_to(ROOT)): list(blocks_of(page, ROOT)) for page in PAGES}
EVERY = [block for blocks in BLOCKS.values() for block in blocks]

SKIPPED = {
    ("docs/how-to/add-a-congestion-control.md", "cargo test"): "tests/changes has the change",
    ("docs/how-to/add-a-queue-discipline.md", "cargo test"): "tests/changes has the change",
    ("docs/how-to/bring-a-congestion-control.md", "forebay controls build l"): "needs its sources",
    ("docs/how-to/cluster.md", "import forebay\nfrom dask_jobqueue"): "needs Slurm",
    ("docs/how-to/cluster.md", "kubectl"): "needs a cluster; test_workers reads the manifest",
    ("docs/how-to/testbed.md", "sudo .venv/bin/forebay reproduce"): "35 minutes; keeps readings",
}
"""Why a block is not followed, by its page and its first words."""
QUICK = "docs/how-to/add-a-congestion-control.md"
"""A page that takes a second or two; `make long` follows the others."""


@pytest.mark.parametrize(
    "name", cases((name for name, blocks in BLOCKS.items() if blocks), QUICK.__eq__)
)
def test_a_page_can_be_followed(name: str, tmp_path: Path) -> None:
    if name.endswith("testbed.md"):
        _skip_without_testbed()
    settle(tmp_path)
    blocks = [block for block in BLOCKS[name] if begun(block, SKIPPED) is None]
    wrong = follow(blocks, tmp_path)
    assert not wrong, "\n\n".join(wrong)


def _skip_without_testbed() -> None:
    try:
        machine.check()
    except forebay.EngineUnavailable as error:
        pytest.skip(str(error))
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")


@pytest.mark.parametrize("name", [name for name, blocks in BLOCKS.items() if blocks])
def test_every_scenario_of_a_page_is_one(name: str, tmp_path: Path) -> None:
    settle(tmp_path)
    reader = Reader(tmp_path)
    for block in BLOCKS[name]:
        if block.language in ("toml", "csv"):
            reader.follow(block)
        if block.language == "toml":
            text = (tmp_path / block.file).read_text("utf-8")
            if "base" not in tomllib.loads(text):  # a grid is read by what runs it
                forebay.load(tmp_path / block.file)


def test_every_block_says_what_it_is() -> None:
    assert [block.place for block in EVERY if block.language not in LANGUAGES] == []
    assert len(EVERY) > 100


def test_a_page_says_the_name_of_each_file_that_it_shows() -> None:
    for block in EVERY:
        if block.file is not None:
            text = (ROOT / block.page).read_text("utf-8")
            hidden = text.count(f"```{block.language} {' '.join(block.words)}\n")
            assert text.count(block.file) > hidden, block.place


def test_few_blocks_are_skipped_and_each_for_a_reason() -> None:
    skipped = [block for block in EVERY if begun(block, SKIPPED) is not None]
    assert len(skipped) == len(SKIPPED)
    assert len(skipped) <= 0.05 * len(EVERY)


def test_what_the_reader_brings_is_asked_for() -> None:
    assert [
        place for place in BEFORE if not any(begun(each, {place: ""}) == "" for each in EVERY)
    ] == []
    text = "\n".join(block.text for block in EVERY)
    assert [word for word in WORDS if word not in text] == []


def test_what_is_not_as_shown_is_seen(tmp_path: Path) -> None:
    settle(tmp_path)
    path = tmp_path / "page.md"
    path.write_text("```sh\necho 12 of 13\n```\n\n```text\n12 … 14\n```\n\n```sh\nfalse\n```\n")
    shown, failed = follow(list(blocks_of(path, tmp_path)), tmp_path)
    assert shown.startswith("page.md:5: not printed: ['14']")
    assert failed.startswith("page.md:9: status 1")
