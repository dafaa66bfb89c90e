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
    assert b"Buffer: 128 packets" in out


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_bad_input_is_2_where_nobody_listens(redirection):
    assert shell("no-such.toml", redirection)[0] == 2
