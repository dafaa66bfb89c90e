"""Run a page's blocks in a scratch folder, as its reader does."""

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import tomli_w

import forebay

from .blocks import Block, merged
from .reader import BEFORE, HERE, ROOT, begun, filled

FILE = re.compile(r"(?<![\w./-])[\w-]+\.(?:svg|png|html|csv|json|toml|sqlite|pcap|pcapng|txt)\b")
UNTIL_CTRL_C = "forebay serve"
MINUTES = 15


def printable(text: str) -> str:
    """Return a text without the lines of tables and without what the width of a screen decides."""
    return " ".join(re.sub(r"[─━]+", " ", text).split())


def fragments(shown: str) -> list[str]:
    """Return the parts of a shown output, a line each, that "…" does not leave open."""
    parts = [printable(part) for line in shown.splitlines() for part in line.split("…")]
    return [part for part in parts if part]


class Reader:
    """A reader at work in a folder: what was printed last, and the names of a Python session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, object] = {}
        self.printed = ""
        self.compared = 0

    def follow(self, block: Block) -> None:
        """Do what a block shows."""
        {
            "sh": self._commands,
            "console": self._session,
            "toml": self._save,
            "csv": self._save,
            "python": self._python,
            "text": self._compare,
        }[block.language](block)

    def _commands(self, block: Block) -> None:
        self._run(block, block.text)

    def _session(self, block: Block) -> None:
        lines = block.text.splitlines()
        self._run(block, "\n".join(line[2:] for line in lines if line.startswith("$ ")))
        self._see(block, "\n".join(line for line in lines if not line.startswith("$ ")))

    def _compare(self, block: Block) -> None:
        self._see(block, block.text)

    def _see(self, block: Block, shown: str) -> None:
        missing = [part for part in fragments(shown) if part not in self.printed]
        assert not missing, f"not printed: {missing}\n{self.printed}"
        self.compared += len(fragments(shown))

    def _save(self, block: Block) -> None:
        assert block.file is not None, "the block has no file's name"
        text = filled(block.text)
        if block.base is not None:
            text = tomli_w.dumps(merged(self._scenario(block.base), text))
        (self.folder / block.file).write_text(text, encoding="utf-8")

    def _scenario(self, name: str) -> str:
        own = self.folder / name
        return (own if own.exists() else ROOT / "scenarios" / f"{name}.toml").read_text("utf-8")

    def _python(self, block: Block) -> None:
        out = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(out):
            exec(compile(filled(block.text), block.place, "exec"), self.names)
        self.printed = printable(out.getvalue())

    def _run(self, block: Block, shown: str) -> None:
        commands = "\n".join([begun(block, BEFORE) or "", filled(shown)])
        real = Path(block.page).stem == "testbed"
        status, out, err = self.shell(commands, serves=UNTIL_CTRL_C in commands, real=real)
        self.printed = printable(f"{out}\n{err}")
        assert status in block.statuses, f"status {status}\n{out[-2000:]}{err[-2000:]}"
        absent = [name for name in FILE.findall(shown) if not (self.folder / name).exists()]
        assert not absent, f"it made no {absent}"

    def shell(self, commands: str, *, serves: bool, real: bool) -> tuple[int, str, str]:
        """Run commands until one fails; return the status, and what they printed.

        A server is ended when it answers. Only where ``real``, the testbed may be used: `compare`
        has a column more where the reader is root.
        """
        out, err = self.folder / ".out", self.folder / ".err"
        with out.open("w") as stdout, err.open("w") as stderr:
            shell = subprocess.Popen(
                ["sh", "-ec", commands], cwd=self.folder, env=self._environment(real),
                stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, process_group=0,
            )  # fmt: skip
            try:
                if serves:
                    _wait_for_page(out, shell)
                    shell.send_signal(signal.SIGINT)
                status = shell.wait(timeout=60 * MINUTES)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(shell.pid, signal.SIGKILL)  # what it left in the background
        return status, out.read_text("utf-8"), err.read_text("utf-8")

    def _environment(self, real: bool) -> dict[str, str]:
        path = f"{HERE / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        none = {} if real else {"FOREBAY_EMULATOR": str(self.folder / "no-testbed")}
        return {**os.environ, "PATH": path, "HOME": str(self.folder), "COLUMNS": "80", **none}


def _wait_for_page(out: Path, server: subprocess.Popen[bytes]) -> None:
    """Wait until a server has said its address and answers there."""
    answered = False
    while not answered:
        assert server.poll() is None, "the server did not start"
        time.sleep(0.1)
        words = out.read_text("utf-8").split()
        if words and words[-1].startswith("http://"):
            with contextlib.suppress(urllib.error.HTTPError):  # it asks for a token
                urllib.request.urlopen(words[-1], timeout=60).close()
            answered = True


def follow(blocks: list[Block], folder: Path) -> list[str]:
    """Follow blocks in order, on where one fails; return what went wrong."""
    reader = Reader(folder)
    wrong = []
    for block in blocks:
        try:
            reader.follow(block)
        except (AssertionError, forebay.ForebayError) as error:
            wrong.append(f"{block.place}: {error}")
    return wrong
