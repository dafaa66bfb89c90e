"""Every page is found from README.md, no link is dead, and scripts import what the package has."""

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(?<!`)\]\(([^)#\s]+)(#[^)\s]*)?\)")
AT_THE_TOP = ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
PAGES = [ROOT / name for name in AT_THE_TOP] + sorted((ROOT / "docs").rglob("*.md"))


def targets(page: Path) -> set[Path]:
    """Return the files that a page links to, without addresses of the web."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    links = (match[1] for match in LINK.finditer(text))
    return {(page.parent / link).resolve() for link in links if ":" not in link}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_link_is_dead(page: Path) -> None:
    assert [str(target) for target in targets(page) if not target.exists()] == []


def test_every_page_is_reached_from_the_readme() -> None:
    seen: set[Path] = set()
    ahead = [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page not in seen:
            seen.add(page)
            ahead += [target for target in targets(page) if target.suffix == ".md"]
    assert [str(page.relative_to(ROOT)) for page in PAGES if page not in seen] == []


def test_the_readme_is_short_and_starts_with_a_command_and_a_picture() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 90
    assert any("$ forebay" in line for line in lines[:15])
    assert any(line.startswith("![") for line in lines[:15])


SCRIPTS = sorted(
    path
    for folder in ("docs/explanation/figures", "docs/sizes", "benches")
    for path in (ROOT / folder).rglob("*.py")
)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_script_finds_what_it_imports(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(path.parent), str(ROOT / "benches"), *sys.path])
    runpy.run_path(str(path), run_name="imported")
