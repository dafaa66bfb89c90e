"""The page's modules, by node's own test runner; skipped where there is no node."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from forebay.web.app import PAGE

MODULES = Path(__file__).with_name("modules")
NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="there is no node on this machine")
@pytest.mark.parametrize("name", sorted(path.name for path in MODULES.glob("*.test.js")))
def test_the_modules_pass_their_tests(name):
    made = subprocess.run([NODE, "--test", name], cwd=MODULES, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout


def test_the_page_loads_its_modules_at_once_and_nothing_from_elsewhere():
    text = (PAGE / "index.html").read_text()
    files = {path.name for path in PAGE.iterdir() if path.suffix in (".js", ".css")}
    assert set(re.findall(r'"/page/([\w.]+)"', text)) == files
    for path in PAGE.iterdir():
        content = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|@import|eval\(|innerHTML", content), path.name


def test_every_module_is_small():
    for path in PAGE.glob("*.js"):
        assert len(path.read_text().splitlines()) <= 300, path.name
