"""Standard streams that are closed or full: one line where somebody can read it, no traceback."""

import subprocess
import sys

import pytest

MAIN = "import sys; from forebay.cli import main; main()"
QUICK = "platforms list"
"""A verb that starts soon."""


def shell(words: str, *arguments: str) -> tuple[int, bytes, bytes]:
    command = ["sh", "-c", words, sys.executable, MAIN, *arguments]
    made = subprocess.run(command, capture_output=True, check=False)
    return made.returncode, made.stdout, made.stderr


def test_a_closed_stdout_is_refused_at_once():
    status, _, err = shell(f'"$0" -c "$1" {QUICK} >&-')
    assert status == 2
    assert err.startswith(b"forebay: standard output is closed") and err.count(b"\n") == 1


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "<&-"])
def test_nobody_need_listen_to_stderr(redirection):
    status, out, err = shell(f'"$0" -c "$1" {QUICK} {redirection}')
    assert (status, err) == (0, b"")
    assert b"junos" in out


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_bad_input_is_2_where_nobody_listens(redirection):
    assert shell(f'"$0" -c "$1" report no-such.json {redirection}')[0] == 2


def test_a_document_from_a_closed_stdin_is_refused():
    status, out, err = shell('"$0" -c "$1" report - <&-')
    assert (status, out, err.count(b"\n")) == (2, b"", 1) and b"standard input: is no JSON" in err


@pytest.mark.parametrize("verb", ["size", "run"])
def test_a_reader_that_goes_away_costs_no_file(scenario, tmp_path, verb):
    picture = tmp_path / "answer.svg"
    files = f"--figure {picture}" if verb == "size" else f"--capture {tmp_path / 'link.pcapng'}"
    engine = "theory" if verb == "size" else "simulation"
    brief = "" if verb == "size" else "--set measure.duration='2 s'"
    _, _, err = shell(
        f'"$0" -c "$1" {verb} "$2" --engine {engine} {brief} {files} | true', scenario
    )
    assert b"Traceback" not in err
    assert len(list(tmp_path.iterdir())) == 1
