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


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["siz", "x.toml"], "did you mean size?"),
        (["size"], "SCENARIO"),
        (["size", "no-such-file.toml"], "no-such-file.toml"),
        (["size", "."], "directory"),
        (["run", "{scenario}", "--engine", "magic"], "write one of: theory, simulation"),
        (["run", "{scenario}", "--seeds", "0"], "--seeds"),
        (["run", "{scenario}", "--seed", "-1"], "--seed"),
        (["run", "{scenario}", "--jobs", "many"], "--jobs"),
        (["run", "{scenario}", "--colour"], "--colour"),
        (["run", "{scenario}", "--set", "queue.size"], "queue.size"),
        (["run", "{scenario}", "--set", "queue.size=3 furlongs"], "queue.size"),
        (["run", "{scenario}", "--set", "traffic.0.flows=1000000000"], "traffic.0.flows"),
        (["run", "{scenario}", "--set", "link.rate=-1 Mbit/s"], "link.rate"),
        (["run", "{scenario}", "--set", "traffic.0.congestion_control=rino"], "reno"),
        (["size", "{scenario}", "--figure", "out.gif"], ".svg"),
        (["size", "{scenario}", "--figure", "no-such-folder/out.svg"], "no-such-folder"),
        (["size", "{scenario}", "--figure", "/proc/out.svg"], "cannot be written"),
        (["size", "{scenario}", "--seeds", "9", "--max-seeds", "4"], "--max-seeds"),
        (["reproduce", "A.fig51"], "A.fig5"),
        (["trace", "{scenario}", "--output", "t.txt"], ".csv, .npz"),
        (["trace", "{scenario}", "--histograms", "t.npz"], ".csv"),
        (["trace", "{scenario}", "--output", "/nowhere/t.csv"], "there is no folder"),
        (["trace", "{scenario}", "--flows", "one"], "write whole numbers"),
        (["trace", "{scenario}", "--step", "1 furlong"], "step:"),
        (["trace", "{scenario}", "--engine", "theory"], "cannot trace packets over time"),
        (["run", "{scenario}", "--capture", "x.pcapng"], "no packets to capture"),
        (["run", "{scenario}", "--capture", "x.pcap"], ".pcapng"),
        (["run", "{scenario}", "--counters", "snmp"], "no packets to count"),
    ],
)
def test_bad_input_is_2_and_one_line(forebay_, link, scenario, arguments, named):
    result = forebay_(*(each.format(scenario=scenario) for each in arguments))
    assert result.status == 2
    assert result.out == ""
    assert named in result.err
    assert result.err.startswith("forebay: ")
    assert result.err.count("\n") == 1, "one line"


def test_a_toml_mistake_is_2_and_one_line(forebay_, link, tmp_path):
    path = tmp_path / "broken.toml"
    path.write_text('[link]\nrate = "155 Mbit/s\n')
    result = forebay_("run", str(path))
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert "broken.toml" in result.err


def test_an_engine_that_cannot_run_here_is_3(forebay_, scenario, monkeypatch):
    def unavailable(name):
        raise EngineUnavailable(name, "no network namespaces", "run it as root on Linux")

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


def test_a_full_disk_is_2_and_one_line(scenario):
    command = [sys.executable, "-c", CALL, "size", scenario, "--engine", "theory"]
    with open("/dev/full", "wb") as full:
        made = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert made.returncode == 2
    assert made.stderr.startswith(b"forebay: writing the answer: No space left")
    assert made.stderr.count(b"\n") == 1


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("size", "--help")])
def test_help_into_a_full_disk_is_2_and_one_line(words):
    with open("/dev/full", "wb") as full:
        made = subprocess.run([sys.executable, "-c", CALL, *words], stdout=full, stderr=PIPE)
    assert made.returncode == 2
    assert b"No space left" in made.stderr and made.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    "words",
    [("size", "--again"), ("report",), ("platforms", "emit", "--platform", "junos", "--answer")],
)
def test_a_document_without_end_is_refused_at_once(forebay_, words):
    result = forebay_(*words, "/dev/zero")
    assert result.status == 2 and result.err.count("\n") == 1, result.err
    assert "/dev/zero" in result.err


def test_without_the_compiled_core_the_simulation_is_3(forebay_, scenario, monkeypatch):
    def broken(name):
        raise ImportError("wrong ELF class", name="forebay._core")

    monkeypatch.setattr("forebay.engines.import_module", broken)
    result = forebay_("run", scenario)
    assert result.status == 3
    assert "forebay._core" in result.err and "make setup" in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("platforms", "emit", "--answer", "a.json", "--platform", "junos"),
            "make one with --json",
        ),
        *(
            ((verb, "oc3-gsr", "--set", "queue.size=1", "--set", "queue.size=2"), "is set twice")
            for verb in ("run", "compare", "trace", "sensitivity", "sweep", "network")
        ),
        (
            ("size", "--rate", "1 Gbit/s", "--goal", "loss_rate=0.1", "--goal", "loss_rate=0.2"),
            "--goal: loss_rate is set twice",
        ),
        (("trace", "oc3-gsr", "--engine", "theory"), "write --engine simulation"),
    ],
)
def test_a_hint_is_in_the_words_of_the_command_line(arguments, said, forebay_, tmp_path):
    (tmp_path / "a.json").write_text("{")
    result = forebay_(*(str(tmp_path / a) if a == "a.json" else a for a in arguments))
    assert result.status == 2 and said in result.err
