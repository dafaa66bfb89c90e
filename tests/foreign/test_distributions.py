"""Controls that an installed distribution brings by the entry point group ``forebay.controls``."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.foreign.test_controls import SCENARIO, TRAFFIC

from forebay.api import controls
from forebay.foreign.build import compile_control

if not sys.platform.startswith("linux") or shutil.which("cc") is None:
    pytest.skip("no C compiler", allow_module_level=True)

MODULE = """
from pathlib import Path
from forebay.api.controls import Provided
ours = Provided(library=Path(__file__).with_name("aimd.so"), source="Me 2026", {says})
"""
RUN = """
import json, sys, forebay
from forebay.api import controls
scenario = forebay.Scenario.from_dict(json.loads(sys.argv[1]))
outcome = forebay.run(scenario, seeds=1)
print(json.dumps([
    [each.name + " of " + each.brought_by for each in controls.listed()],
    outcome.links["bottleneck"].utilization.value,
    outcome.provenance.controls,
]))
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the AIMD of the examples, compiled."""
    folder = tmp_path_factory.mktemp("aimd")
    compile_control([controls.EXAMPLES / "aimd.c"], folder)
    return (folder / "control.so").read_bytes()


def wheel(folder: Path, library: bytes, says: str) -> Path:
    """Return a wheel with a compiled control, whose record says so."""
    made = folder / "my_control-1.0-py3-none-any.whl"
    info = "my_control-1.0.dist-info"
    files: dict[str, bytes | str] = {
        "my_control/__init__.py": MODULE.format(says=says),
        "my_control/aimd.so": library,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: my-control\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[forebay.controls]\ngentle = my_control:ours\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in files)
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made


def run_with(folder: Path, wheel: Path, *, pip: bool) -> subprocess.CompletedProcess[str]:
    site = folder / "site"
    if pip:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
        subprocess.run([*command, "--target", site, wheel], check=True)
    else:
        zipfile.ZipFile(wheel).extractall(site)
    asked = {**SCENARIO, "traffic": [{**TRAFFIC, "congestion_control": "gentle"}]}
    environment = os.environ | {"PYTHONPATH": str(site), "FOREBAY_CONTROLS": str(folder / "none")}
    command = [sys.executable, "-c", RUN, json.dumps(asked)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_distribution_brings_one(tmp_path, library):
    done = run_with(tmp_path, wheel(tmp_path, library, "state_bytes=4"), pip=True)
    assert done.returncode == 0, done.stderr
    listed, used, facts = json.loads(done.stdout)
    assert listed == ["gentle of my-control"]
    assert used > 0.7
    assert facts["gentle"]["source"] == "Me 2026" and len(facts["gentle"]["library_sha256"]) == 64


@pytest.mark.parametrize(
    ("says", "wrong"),
    [
        ("state_bytes=4, paces=True", "its library has paces False, its record True"),
        ("state_bytes=0", "its library has state_bytes 4, its record 0"),
    ],
)
def test_what_its_record_says_wrong_is_one_line(tmp_path, library, says, wrong):
    done = run_with(tmp_path, wheel(tmp_path, library, says), pip=False)
    assert done.returncode != 0
    last = done.stderr.splitlines()[-1]
    assert "'gentle'" in last and wrong in last
