"""SIGINT, SIGTERM and SIGHUP at any moment: one line, 130 or 143, nothing left behind.

``python tests/cli/test_signals.py 200`` tries that many moments.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from forebay.cli import program

READY = "import sys; print('ready', flush=True); from forebay.cli import main; main()"
SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "oc3-gsr.toml"
STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 143}
VERBS = [
    ["size", "{s}"],
    ["size", "{s}", "--json", "--figure", "{d}/a.svg"],
    ["size", "{s}", "--engine", "theory", "--figure", "{d}/b.png"],
    ["run", "{s}", "--seeds", "3"],
    ["compare", "{s}", "--engine", "theory", "--engine", "simulation"],
    ["trace", "{s}", "--output", "{d}/a.csv", "--figure", "{d}/c.svg"],
    ["reproduce", "A.fig9", "--quick", "--store", "{d}/store"],
    ["reproduce", "D.table3", "--figure", "{d}/d.pdf"],
    ["platforms", "emit", "{s}", "--platform", "junos"],
]


def try_once(verb: list[str], number: signal.Signals, after_s: float, folder: Path) -> str:
    """Run a verb, send it a signal after so long; return what was wrong, "" for nothing."""
    words = [word.format(s=SCENARIO, d=folder) for word in verb]
    made = subprocess.Popen(
        [sys.executable, "-c", READY, *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
        env=os.environ | {"TMPDIR": str(folder)}, preexec_fn=_listen,
    )  # fmt: skip
    assert made.stdout is not None
    made.stdout.readline()  # our first line is about to run
    time.sleep(after_s)
    made.send_signal(number)
    asked = time.monotonic()
    out, err = made.communicate(timeout=60)
    took = time.monotonic() - asked
    lines = [line for line in err.decode().splitlines() if line.startswith("forebay: ")]
    left = [path.name for path in folder.rglob("*") if ".forebay-" in path.name]
    if left:
        return f"left {left}"
    if made.returncode in (0, 1) and not lines:
        return ""  # it had ended before
    if b"Traceback" in err or b"ignored" in err:
        return err.decode()
    if made.returncode != STATUS[number] or len(lines) != 1 or took > 30.0:
        return f"status {made.returncode} after {took:.1f} s, {err.decode()[-400:]!r}"
    claimed = "answer as printed" in lines[0]
    return "" if claimed <= bool(out) else f"claims an answer: {lines}"


def _listen() -> None:
    """A shell starts its background jobs deaf to SIGINT, and so are their children."""
    for number in STATUS:
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize("number", STATUS)
@pytest.mark.parametrize("seed", range(3))
def test_a_signal_at_a_random_moment(number, seed, tmp_path):
    chance = random.Random(f"{number} {seed}")
    verb = chance.choice(VERBS)
    assert try_once(verb, number, chance.uniform(0.0, 1.5), tmp_path) == "", verb


def test_an_interrupt_within_an_import_waits_for_its_end(tmp_path):
    """A module that turns every exception of its own into an ImportError does not hide it."""
    (tmp_path / "slow.py").write_text(
        "import os, signal, time\n"
        "try:\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(0.2)\n"
        "except BaseException as error:\n"
        "    raise ImportError('half') from error\n"
        "open('whole', 'w').close()\n"
    )
    code = (
        "from forebay.cli import program, main\n"
        "def call(_):\n    import slow, time\n    time.sleep(5)\n"
        "program.call = call\nmain()\n"
    )
    made = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (made.returncode, made.stderr) == (130, "forebay: interrupted; nothing was kept\n")
    assert (tmp_path / "whole").exists()


def test_what_swallows_an_interrupt_gets_it_again(tmp_path):
    code = (
        "import os, signal, time\n"
        "from forebay.cli import program, main\n"
        "def call(_):\n"
        "    try:\n        os.kill(os.getpid(), signal.SIGTERM)\n        time.sleep(1)\n"
        "    except BaseException:\n        pass\n"
        "    time.sleep(5)\n"
        "program.call = call\nmain()\n"
    )
    made = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (made.returncode, made.stderr) == (143, "forebay: terminated; nothing was kept\n")


def test_what_was_said_is_not_said_again(tmp_path):
    """The second exception, for code that swallows the first, comes too late."""
    code = (
        "import os, signal, time\n"
        "from forebay.cli import program, main\n"
        "answer = program.call\n"
        "def call(_):\n    status = answer(['run', 'x'])\n    time.sleep(1)\n    return status\n"
        "program.call = call\n"
        "program._Verbs.resolve_command = lambda *_: os.kill(os.getpid(), signal.SIGTERM)\n"
        "main()\n"
    )
    made = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (made.returncode, made.stderr) == (143, "forebay: terminated; nothing was kept\n")


def test_another_programs_handlers_stay(monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    before = [signal.getsignal(number) for number in STATUS]
    monkeypatch.setattr(program._Verbs, "resolve_command", interrupt)
    assert program.call(["run", "x"]) == 130
    assert capsys.readouterr().err == "forebay: interrupted; nothing was kept\n"
    assert [signal.getsignal(number) for number in STATUS] == before


def test_nohup_is_respected(tmp_path):
    code = (
        "import os, signal\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from forebay.cli import program, main\n"
        "program.call = lambda _: os.kill(os.getpid(), signal.SIGHUP) or 0\nmain()\n"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (made.returncode, made.stderr) == (0, b"")


if __name__ == "__main__":
    chance, wrong = random.Random(1), 0
    for each in range(int(sys.argv[1])):
        verb, number = chance.choice(VERBS), chance.choice(list(STATUS))
        after_s = chance.choice([0.2, 1.0, 4.0]) * chance.random()
        with tempfile.TemporaryDirectory() as folder:
            said = try_once(verb, number, after_s, Path(folder))
        wrong += bool(said)
        print(each, number.name, f"{after_s:.3f} s", *verb[:2], said or "well", flush=True)
    print(f"{wrong} wrong")
