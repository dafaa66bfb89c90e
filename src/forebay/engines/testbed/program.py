"""The emulator as a child process: start it, read its events, and always end it."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from forebay.engines.testbed.errors import TestbedError, asking

Event = dict[str, Any]

_DEFECT = "this is a defect of forebay-emulator; please report it"
_SILENT_S = 20.0
"""An emulator without output for this time hangs. It writes an event once a second."""
_TO_END_S = 0.4
"""Time for a clean end after a stop. Ctrl-C may take one second in total."""


class Program:
    """A context manager. Its exit always ends the child process."""

    def __init__(self, binary: Path, plan: Path, started: Callable[[int], None]) -> None:
        self._errors = plan.with_name("emulator.log")
        with asking(f"starting {binary}"), open(self._errors, "wb") as errors:
            # It has its own session, so Ctrl-C in the terminal reaches only us. Its standard input
            # closes when we end, and this ends the emulator.
            self._child = subprocess.Popen(
                [str(binary), "run", str(plan)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                start_new_session=True,
            )  # fmt: skip
        started(self._child.pid)

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def events(self) -> Iterator[Event]:
        """Yield its events, up to and including `done`.

        Raises
        ------
        TestbedError
            It reports an error, ends without `done`, or hangs.
        """
        for line in self._lines():
            event = _parse(line)
            if event["event"] == "error":
                raise TestbedError(event.get("message", "?"), event.get("hint", _DEFECT))
            yield event
            if event["event"] == "done":
                self._child.wait()
                return
        raise TestbedError(f"forebay-emulator ended with {self._ending()}", _DEFECT)

    def _lines(self) -> Iterator[bytes]:
        assert self._child.stdout is not None
        pipe, rest = self._child.stdout.fileno(), b""
        silent_until = time.monotonic() + _SILENT_S
        while (left := silent_until - time.monotonic()) > 0:
            if not select.select([pipe], [], [], left)[0]:
                continue
            part = os.read(pipe, 65536)
            if not part:
                return
            *whole, rest = (rest + part).split(b"\n")
            yield from whole
            silent_until = time.monotonic() + _SILENT_S
        raise TestbedError(f"forebay-emulator sent no event for {_SILENT_S:g} s", _DEFECT)

    def _ending(self) -> str:
        status = self._child.wait()
        said = self._errors.read_text(errors="replace").strip().splitlines()
        return f"status {status}" + (f": {said[-1]}" if said else "")

    def _stop(self) -> None:
        assert self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.close()
        if self._child.poll() is None:
            self._child.terminate()
            try:
                self._child.wait(_TO_END_S)
            except subprocess.TimeoutExpired:
                self._child.kill()
        self._child.wait()
        self._child.stdout.close()


def _parse(line: bytes) -> Event:
    try:
        event = json.loads(line)
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            return event
    except ValueError:
        pass
    raise TestbedError(f"forebay-emulator said {line[:80]!r}, which is not an event", _DEFECT)
