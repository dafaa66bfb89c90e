"""What the page of `forebay serve` says where it cannot begin, and where it is ended."""

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forebay.cli.program import call


@pytest.mark.parametrize("start", [0.0, 0.004, 0.008, 0.012])
def test_ctrl_c_of_a_page_speaks_of_no_answer(start: float) -> None:
    """Also while its server starts."""
    cli = str(Path(sys.executable).with_name("forebay"))
    made = subprocess.Popen(
        [cli, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert "http://127.0.0.1" in made.stdout.readline()
    time.sleep(start)
    made.send_signal(signal.SIGTERM)
    _, err = made.communicate(timeout=20)
    assert (made.returncode, err) == (143, "forebay: terminated; the page is closed\n")


def test_a_port_in_use_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert call(["serve", "--port", str(port)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"forebay: 127.0.0.1 port {port}: ") and "name another port" in err


def test_what_ends_the_server_of_a_page_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no loop")

    monkeypatch.setattr("uvicorn.Server.run", broken)
    assert call(["serve", "--port", "0"]) == 4
    assert "RuntimeError: no loop" in capsys.readouterr().err
