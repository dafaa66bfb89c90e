"""Has scenarios run in a worker, and says what is wrong with how one went."""

import json
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
LAST = HERE.parents[1] / "build" / "fuzz-last.toml"
"""The case under way, should the machine itself go down."""
MOST_BYTES = 2_200_000_000  # a tenth above the default limit
MOST_CPU_S = 60.0
_PATIENCE_S = 420.0
"""Seconds on the clock of a machine that does other things too."""


class Judge:
    """One worker, started anew when it died."""

    def __init__(self) -> None:
        self._worker: subprocess.Popen[str] | None = None

    def wrong_with(self, text: str, asks: list[str], seed: int = 1) -> tuple[str, dict[str, Any]]:
        """Return what is wrong ("" if nothing), and what the worker said."""
        LAST.parent.mkdir(exist_ok=True)
        LAST.write_text(f"# {asks}\n{text}")
        worker = self._running()
        worker.stdin.write(json.dumps({"text": text, "asks": asks, "seed": seed}) + "\n")
        worker.stdin.flush()
        if not select.select([worker.stdout], [], [], _PATIENCE_S)[0]:
            self.close()
            return f"{asks}: no answer in {_PATIENCE_S:g} s", {}
        line = worker.stdout.readline()
        if not line:
            status = worker.wait()
            self.close()
            return f"{asks}: the process ended with status {status}", {}
        reply: dict[str, Any] = json.loads(line)
        wrong = _judged(reply)
        if wrong:
            self.close()  # what it holds is not to count for the next
        return wrong, reply

    def close(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker.wait()
            for pipe in (self._worker.stdin, self._worker.stdout):
                if pipe is not None:
                    pipe.close()
            self._worker = None

    def _running(self) -> subprocess.Popen[str]:
        if self._worker is None or self._worker.poll() is not None:
            self.close()
            self._worker = subprocess.Popen(
                [sys.executable, str(HERE / "worker.py")],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=CORPUS, text=True,
            )  # fmt: skip
        return self._worker


def _judged(reply: dict[str, Any]) -> str:
    if reply["wrong"]:
        return str(reply["wrong"])
    if reply["peak_bytes"] > MOST_BYTES:
        return f"took {reply['peak_bytes'] / 1e9:.2f} GB"
    if reply["cpu_s"] > MOST_CPU_S:
        return f"took {reply['cpu_s']:.0f} s of processor time"
    return ""
