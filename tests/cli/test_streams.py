"""Standard streams that are closed or full: one line where somebody can read it, no traceback."""

import subprocess
import sys

import pytest

MAIN = "import sys; from forebay.cli import main; main()"


def shell(scenario: str, redirection: str) -> tuple[int, bytes, bytes]:
    words = f'"$0" -c "$1" size "$2" --engine theory {redirection}'
    command = ["sh", "-c", words, sys.executable, MAIN, scenario]
    made = subprocess.run(command, capture_output=True, check=False)
    return made.returncode, made.stdout, made.stderr


def test_a_closed_stdout_is_refused_at_once(scenario):
    status, _, err = shell(scenario, ">&-")
    assert status == 2
    assert err.startswith(b"forebay: standard output is closed") and err.count(b"\n") == 1


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "<&-"])
def test_nobody_need_listen_to_stderr(scenario, redirection):
    status, out, err = shell(scenario, redirection)
    assert (status, err) == (0, b"")
    assert b"Recommended: 128 packets" in out


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_bad_input_is_2_where_nobody_listens(redirection):
    assert shell("no-such.toml", redirection)[0] == 2


@pytest.mark.parametrize("verb", ["size", "run"])
def test_a_reader_that_goes_away_costs_no_file(scenario, tmp_path, verb):
    picture = tmp_path / "answer.svg"
    files = f"--figure {picture}" if verb == "size" else f"--capture {tmp_path / 'link.pcapng'}"
    engine = "theory" if verb == "size" else "simulation"
    command = f'"$0" -c "$1" {verb} "$2" --engine {engine} {files} | true'
    words = ["sh", "-c", command, sys.executable, MAIN, scenario]
    made = subprocess.run(words, capture_output=True, check=False)
    assert b"Traceback" not in made.stderr
    assert len(list(tmp_path.iterdir())) == 1


def test_a_reader_that_goes_away_ends_it_as_the_signal_does(scenario):
    command = '{ "$0" -c "$1" size "$2" --engine theory; echo $? >&2; } | true'
    words = ["sh", "-c", command, sys.executable, MAIN, scenario]
    made = subprocess.run(words, capture_output=True, check=False)
    assert made.stderr.split()[-1] == b"141"
