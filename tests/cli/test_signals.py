"""SIGINT, SIGTERM and SIGHUP at any moment: one line, 130 or 143, nothing left behind.

``python tests/cli/signal_storm.py 200`` tries that many moments over all verbs, the testbed's too.
"""

import logging
import os
import random
import signal
import subprocess
import sys

import pytest
from tests.cases import cases
from tests.cli.signal_storm import STATUS, VERBS, inputs, try_once

from forebay.cli import program

NOTHING = {
    130: "forebay: interrupted; nothing was kept\n", 143: "forebay: terminated; nothing was kept\n",
}  # fmt: skip


def run(code, folder, *words, before=""):
    """Run a script with another `program.call`, in a folder that is the temporary one too."""
    head = (
        f"import os, signal, sys, tempfile, time\n{before}from forebay.cli import program, main\n"
    )
    return subprocess.run(
        [sys.executable, "-c", head + code, *words], cwd=folder, capture_output=True, text=True,
        check=False, env=os.environ | {"TMPDIR": str(folder)},
    )  # fmt: skip


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    return inputs(tmp_path_factory.mktemp("in"))


@pytest.mark.parametrize("number", STATUS)
@pytest.mark.parametrize("seed", cases(range(3), (0).__eq__))
def test_a_signal_at_a_random_moment(number, seed, places, tmp_path):
    chance = random.Random(f"{number} {seed}")
    verb = chance.choice(VERBS)
    assert try_once(verb, number, chance.uniform(0.0, 1.5), places, tmp_path) == "", verb


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
    code = "def call(_):\n    import slow, time\n    time.sleep(5)\nprogram.call = call\nmain()\n"
    made = run(code, tmp_path)
    assert (made.returncode, made.stderr) == (130, NOTHING[130])
    assert (tmp_path / "whole").exists()


def test_what_swallows_an_interrupt_gets_it_again(tmp_path):
    code = (
        "def call(_):\n"
        "    try:\n        os.kill(os.getpid(), signal.SIGTERM)\n        time.sleep(1)\n"
        "    except BaseException:\n        pass\n"
        "    time.sleep(5)\n"
        "program.call = call\nmain()\n"
    )
    made = run(code, tmp_path)
    assert (made.returncode, made.stderr) == (143, NOTHING[143])


def test_what_was_said_is_not_said_again(tmp_path):
    """The second exception, for code that swallows the first, comes too late."""
    code = (
        "answer = program.call\n"
        "def call(_):\n    status = answer(['run', 'x'])\n    time.sleep(1)\n    return status\n"
        "program.call = call\n"
        "program._Verbs.resolve_command = lambda *_: os.kill(os.getpid(), signal.SIGTERM)\n"
        "main()\n"
    )
    made = run(code, tmp_path)
    assert (made.returncode, made.stderr) == (143, NOTHING[143])


def test_another_programs_handlers_stay(monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    before = [signal.getsignal(number) for number in STATUS]
    monkeypatch.setattr(program._Verbs, "resolve_command", interrupt)
    assert program.call(["run", "x"]) == 130
    assert capsys.readouterr().err == "forebay: interrupted; nothing was kept\n"
    assert [signal.getsignal(number) for number in STATUS] == before


def test_nohup_is_respected(tmp_path):
    code = "program.call = lambda _: os.kill(os.getpid(), signal.SIGHUP) or 0\nmain()\n"
    made = run(code, tmp_path, before="signal.signal(signal.SIGHUP, signal.SIG_IGN)\n")
    assert (made.returncode, made.stderr) == (0, "")


@pytest.mark.skipif(not hasattr(logging, "_releaseLock"), reason="a function in C")
def test_a_signal_at_a_fork_does_not_keep_the_lock_of_logging(tmp_path):
    """Else the next thread that logs waits for ever, as the testbed's did."""
    code = (
        "import logging, threading\n"
        "def tell(frame, event, _):\n"
        "    if frame.f_code.co_name == '_releaseLock' and event == 'call':\n"
        "        sys.setprofile(None)\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "def call(_):\n"
        "    sys.setprofile(tell)\n"
        "    if not os.fork():\n        os._exit(0)\n"
        "    time.sleep(5)\n"
        "def free():\n"
        "    print(logging._lock.acquire(timeout=1), flush=True)\n    logging._lock.release()\n"
        "program.call = call\n"
        "try:\n    main()\n"
        "finally:\n"
        "    thread = threading.Thread(target=free)\n    thread.start()\n    thread.join()\n"
    )
    made = run(code, tmp_path)
    assert (made.returncode, made.stdout, made.stderr) == (143, "True\n", NOTHING[143])


def test_an_answer_of_which_nothing_was_written_is_not_said_to_be_printed(tmp_path):
    """click writes nothing at all to learn whether a stream is binary."""
    code = (
        "import click\n"
        "def strip_ansi(text):\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    return text\n"
        "click.utils.strip_ansi = strip_ansi\n"
        "main()\n"
    )
    made = run(code, tmp_path, "platforms", "list")
    assert (made.returncode, made.stdout, made.stderr) == (143, "", NOTHING[143])


@pytest.mark.parametrize("made_by", ["open", "mkdir"])
def test_a_signal_while_a_temporary_folder_is_made_leaves_none(made_by, tmp_path):
    """tempfile tries the place with a file first; neither has a name that others know yet."""
    code = (
        "def tell(frame, event, called):\n"
        f"    if event == 'c_return' and called is os.{made_by}:\n"
        "        sys.setprofile(None)\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "def call(_):\n"
        "    sys.setprofile(tell)\n"
        "    with tempfile.TemporaryDirectory():\n        time.sleep(5)\n"
        "program.call = call\n"
        "main()\n"
    )
    made = run(code, tmp_path)
    assert made.returncode == 130
    assert not list(tmp_path.iterdir())
