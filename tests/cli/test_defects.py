"""What nobody foresaw ends with status 4 and one line; the traceback only where it is asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from forebay import Defect, ForebayError
from forebay.errors import panics_as_defects

RAISES = """
import sys
import forebay.api.run
class PanicException(BaseException):
    pass
def run(*_, **__):
    raise {error}
forebay.api.run.run = run
from forebay.cli.program import call
sys.exit(call(["run", sys.argv[1]]))
"""


@pytest.mark.parametrize("error", ["LookupError('a\\nb')", "PanicException('index 3')"])
@pytest.mark.parametrize("debug", ["", "1"])
def test_status_4_and_one_line(error: str, debug: str, scenario: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RAISES.format(error=error), scenario],
        env=os.environ | {"FOREBAY_DEBUG": debug}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 4
    assert done.stdout == ""
    assert ("Traceback" in done.stderr) == bool(debug)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("forebay: a defect of forebay: ")
    assert "please report it" in last and error[:8] in last
    assert debug or done.stderr.count("\n") == 1


def test_a_panic_of_the_core_has_the_documented_base() -> None:
    class PanicException(BaseException):
        pass

    with pytest.raises(Defect, match="a panic of the core: index 3") as raised, panics_as_defects():
        raise PanicException("index 3")
    assert isinstance(raised.value, ForebayError) and raised.value.exit_status == 4
    with pytest.raises(KeyboardInterrupt), panics_as_defects():
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    "line",
    [
        "font.size: 80",
        *(
            pytest.param(line, marks=pytest.mark.long)
            for line in ("text.usetex: True", "savefig.dpi: 100000", "figure.dpi: 1")
        ),
    ],
)
def test_a_matplotlibrc_of_the_folder_changes_no_picture(
    line: str, scenario: str, tmp_path: Path
) -> None:
    def drawn(folder: Path) -> bytes:
        command = "import sys; from forebay.cli.program import call; sys.exit(call(sys.argv[1:]))"
        done = subprocess.run(
            [sys.executable, "-c", command, "size", scenario, "--engine", "theory",
             "--figure", str(folder / "a.svg")],
            cwd=folder, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-500:]
        return (folder / "a.svg").read_bytes()

    plain, changed = tmp_path / "plain", tmp_path / "changed"
    for folder in (plain, changed):
        folder.mkdir()
    (changed / "matplotlibrc").write_text(line + "\n")
    assert drawn(changed) == drawn(plain)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_capture_onto_a_full_disk_has_the_errno() -> None:
    from forebay.engines.simulation import SimulationEngine
    from forebay.scenario import loads

    scenario = loads(
        '[link]\nrate = "10 Mbit/s"\n[[traffic]]\nflows = 2\nrtt = "20 ms"\nstart = "0 s"\n'
        '[measure]\nwarmup = "1 s"\nduration = "2 s"\n'
    )
    engine = SimulationEngine()
    engine.capture_to(Path("/dev/full"))
    with pytest.raises(OSError) as full:
        engine.run(scenario, [1])
    assert full.value.errno == 28
