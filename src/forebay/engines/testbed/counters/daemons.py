"""Runs another program inside a namespace during a run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from forebay.engines.testbed import namespaces
from forebay.engines.testbed.errors import asking

# The kernel kills it when we end. It starts after it is recorded, and never if we end before.
_HELD = 'read -r _ && exec "$@" < /dev/null'
_TO_END_S = 0.4
_ALSO = "/usr/sbin:/sbin"  # a root's PATH may lack them


def find(program: str) -> str | None:
    """Return the path of a program, or None."""
    return shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:{_ALSO}")


class Daemon:
    """A context: leaving it ends the program.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments. It must stay in the foreground and keep our user, because a
        program that changes its user would not be killed with us.
    started : callable
        Called with the process ID before the program starts.
    """

    def __init__(
        self,
        command: Sequence[str],
        namespace: str,
        log: Path,
        started: Callable[[int], None],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._log = log
        program, *arguments = command
        inside = ["nsenter", f"--net={namespaces.path_of(namespace)}"]
        held = ["sh", "-c", _HELD, "sh", find(program) or program, *arguments]
        with asking(f"starting {program}", "install util-linux"), open(log, "wb") as said:
            self._child = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *inside, *held],
                stdin=subprocess.PIPE, stdout=said, stderr=said, start_new_session=True,
                env={**os.environ, **(environment or {})},
            )  # fmt: skip
        assert self._child.stdin is not None
        started(self._child.pid)
        with suppress(BrokenPipeError):
            self._child.stdin.write(b"\n")
            self._child.stdin.close()

    def __enter__(self) -> Daemon:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.terminate()
        try:
            self._child.wait(_TO_END_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    @property
    def last_words(self) -> str:
        """The last line of its output, in brackets, for error messages."""
        said = self._log.read_text(errors="replace").strip().splitlines()
        return f" ({said[-1]})" if said else ""
