"""Records that come through a pipe, or from what has no end."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.measure.test_readers import captured


@pytest.mark.parametrize("exports", [[], ["--exports"]])
def test_a_pipe_that_nobody_fills_is_left_by_ctrl_c(tmp_path, exports):
    pipe = tmp_path / "link.pcap"
    os.mkfifo(pipe)
    code = "import sys; print('ready', flush=True); from forebay.cli import main; main()"
    words = ["measure", str(pipe), "--rate", "1 Gbit/s", *exports]
    made = subprocess.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert made.stdout.readline() == b"ready\n"
    time.sleep(1.0)
    made.send_signal(signal.SIGINT)
    _, err = made.communicate(timeout=30)
    assert (made.returncode, err) == (130, b"forebay: interrupted; nothing was kept\n")


def test_a_capture_comes_through_a_pipe_as_well(tmp_path):
    whole = captured(tmp_path)
    code = "from forebay.cli import main; main()"
    command = (
        f"cat {whole} | {sys.executable} -c '{code}' measure /dev/stdin --json --rate '10 Mbit/s'"
    )
    made = subprocess.run(["sh", "-c", command], capture_output=True, check=True)
    assert json.loads(made.stdout)["packets"] > 0
