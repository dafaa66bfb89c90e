"""The contract's statuses: 0 done, 1 out of reach, 2 bad input in one line, 3 no engine here."""

import subprocess
import sys
from subprocess import PIPE

import pytest

import forebay.engines
from forebay.engines import EngineUnavailable


def test_a_good_run_is_0(forebay_, link, scenario):
    result = forebay_("run", scenario)
    assert result.status == 0
    assert result.err == ""


def test_an_engine_that_cannot_run_here_is_3(forebay_, scenario, monkeypatch):
    def unavailable(name):
        raise EngineUnavailable("no network namespaces", "run it as root on Linux", engine=name)

    monkeypatch.setattr(forebay.engines, "get", unavailable)
    result = forebay_("run", scenario)
    assert result.status == 3
    assert "no network namespaces" in result.err and "as root" in result.err


def test_goals_out_of_reach_are_1(forebay_, link, scenario):
    result = forebay_("size", scenario, "--set", "goals.utilization=0.999999")
    assert result.status == 1
    assert "no buffer meets the goals" in result.out.lower()


def test_no_verb_prints_help_on_stderr(forebay_):
    result = forebay_()
    assert result.status == 2 and result.out == ""
    assert "reproduce" in result.err


CALL = "import sys; from forebay.cli.program import call; sys.exit(call(sys.argv[1:]))"


def test_a_reader_that_goes_is_no_error():
    """``forebay platforms list | head -1`` prints its line and no complaint."""
    command = [sys.executable, "-c", CALL, "platforms", "list"]
    made = subprocess.Popen(command, stdout=PIPE, stderr=PIPE)
    made.stdout.close()
    assert made.stderr.read() == b""
    made.stderr.close()
    assert made.wait() == 141


@pytest.mark.parametrize(
    "words",
    ["size oc3-gsr --engine theory", "serve --port 0", "--help", "--version", "size --help"],
)
def test_a_full_disk_is_2_and_one_line(words):
    command = [sys.executable, "-c", CALL, *words.split()]
    with open("/dev/full", "wb") as full:
        made = subprocess.run(command, stdout=full, stderr=PIPE, check=False)
    assert made.returncode == 2
    assert made.stderr.startswith(b"forebay: writing the answer: No space left")
    assert made.stderr.count(b"\n") == 1


def test_without_the_compiled_core_the_simulation_is_3(forebay_, scenario, monkeypatch):
    def broken(name):
        raise ImportError("wrong ELF class", name="forebay._core")

    monkeypatch.setattr("forebay.engines.import_module", broken)
    result = forebay_("run", scenario)
    assert result.status == 3
    assert "forebay._core" in result.err and "make setup" in result.err
    assert result.err.count("\n") == 1
