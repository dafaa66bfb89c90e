"""What nobody foresaw ends with status 4 and one line; the traceback only where it is asked for."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.scenarios import scenario

from forebay import Defect, ForebayError
from forebay.errors import panics_as_defects


class PanicException(BaseException):
    """What the core raises when it panics."""


@pytest.mark.parametrize("error", [LookupError("a\nb"), PanicException("index 3")], ids=repr)
@pytest.mark.parametrize("debug", ["", "1"])
def test_status_4_and_one_line(error, debug, scenario, forebay_, monkeypatch):
    def run(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("forebay.run", run)
    monkeypatch.setenv("FOREBAY_DEBUG", debug)
    done = forebay_("run", scenario)
    assert (done.status, done.out) == (4, "")
    assert ("Traceback" in done.err) == bool(debug)
    last = done.err.splitlines()[-1]
    assert last.startswith("forebay: a defect of forebay: ")
    assert "please report it" in last and type(error).__name__ in last
    assert debug or done.err.count("\n") == 1


def test_a_panic_of_the_core_has_the_documented_base():
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
def test_a_matplotlibrc_of_the_folder_changes_no_picture(line, scenario, tmp_path, forebay_):
    """The file is read when matplotlib is imported, so by a process of its own."""
    plain, changed = tmp_path / "plain.svg", tmp_path / "changed.svg"
    words = ["size", scenario, "--engine", "theory", "--figure"]
    assert forebay_(*words, str(plain)).status == 0
    (tmp_path / "matplotlibrc").write_text(line + "\n")
    command = "import sys; from forebay.cli.program import call; sys.exit(call(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", command, *words, str(changed)],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-500:]
    assert changed.read_bytes() == plain.read_bytes()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_capture_onto_a_full_disk_has_the_errno():
    from forebay.engines.simulation import SimulationEngine

    engine = SimulationEngine()
    engine.capture_to(Path("/dev/full"))
    with pytest.raises(OSError) as full:
        engine.run(scenario({"traffic.0.start": "0 s"}), [1])
    assert full.value.errno == 28
