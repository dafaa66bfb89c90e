"""Runs with congestion controls from outside, in a process of their own.

What such a control does to its process it does to that one: a crash, or a hook that does not
return, ends in one line. `child` is the other side.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from forebay.errors import Defect
from forebay.foreign import ControlFailed
from forebay.progress import enter

if TYPE_CHECKING:
    from forebay.progress import Progress

STALL_S = 10.0
"""A simulation, or a library that is being loaded, does not stand still for longer."""
_LOOK_S = 0.5
_HEAD = struct.Struct("<Q")


class Isolated:
    """A process for runs with controls from outside; it begins when it is first needed.

    It keeps what it has drawn, as an engine does. One that has failed is replaced by the next call.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def call(
        self, names: Sequence[str], request: str, *arguments: object, progress: Progress | None
    ) -> Any:
        """Let the process answer a request.

        Parameters
        ----------
        names : the controls that it loads, for the message.
        request, arguments : a function of `child`, and what it is given.
        progress : called with what it reports.

        Raises
        ------
        ControlFailed
            A control crashed, did not return, or set what no window can be.
        ForebayError
            What the request raised.
        """
        try:
            return self._answer(tuple(names), (request, arguments), progress)
        except BaseException:
            self.close()
            raise

    def _answer(
        self, names: tuple[str, ...], request: tuple[str, tuple[object, ...]],
        progress: Progress | None,
    ) -> Any:  # fmt: skip
        process = self._start()
        assert process.stdin is not None and process.stdout is not None
        send(process.stdin, request)
        stands_since, watched = 0.0, False
        while True:
            if not select.select([process.stdout], [], [], _LOOK_S)[0]:
                message: Any = ("waiting", None)
            else:
                message = receive(process.stdout)
            now = time.monotonic()
            match message:
                case None:
                    raise ControlFailed(names, _ended(process))
                case ("answer", answer):
                    return answer
                case ("error", error):
                    raise error
                case ("watch", watched):
                    stands_since = now
                case ("moved", fraction):
                    stands_since = now
                    _report(progress, fraction)
                case ("stands", fraction):
                    _report(progress, fraction)
                case ("stage", stage):
                    enter(progress, stage)
                case _:
                    _report(progress, None)
            if watched and now - stands_since > STALL_S:
                wrong = f"a hook did not return, or the run stood still, for {STALL_S:.0f} s"
                raise ControlFailed(names, wrong)

    def _start(self) -> subprocess.Popen[bytes]:
        process = self._process
        if process is None or process.poll() is not None:
            started = "from forebay.engines.simulation.child import main; main()"
            command = [sys.executable, "-c", started]
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": _path()},
                start_new_session=True,  # an interrupt is the parent's
            )
            self._process = process
        return process

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(OSError):
            process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        process.wait()

    def __del__(self) -> None:
        self.close()


def _path() -> str:
    """Return this process's module path, so that the other has the same forebay."""
    return os.pathsep.join(each for each in sys.path if each)


def _report(progress: Progress | None, fraction: float | None) -> None:
    if progress is not None and fraction is not None:
        progress(fraction)


def _ended(process: subprocess.Popen[bytes]) -> str:
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=STALL_S)
    status = process.returncode
    if status is not None and status < 0:
        try:
            return f"crashed ({signal.Signals(-status).name})"
        except ValueError:
            return f"crashed (signal {-status})"
    return f"ended its process with status {status}"


def send(stream: Any, message: object) -> None:
    """Write a message."""
    try:
        data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise Defect(f"a message to or from a simulation's process: {error}") from error
    with suppress(BrokenPipeError):  # who reads it sees the end, and says why
        stream.write(_HEAD.pack(len(data)) + data)
        stream.flush()


def receive(stream: Any) -> Any:
    """Read a message; None at the end."""
    head = _exactly(stream, _HEAD.size)
    if head is None:
        return None
    data = _exactly(stream, *_HEAD.unpack(head))
    return None if data is None else pickle.loads(data)


def _exactly(stream: Any, size: int) -> bytes | None:
    """Read so many bytes and no more, so that `select` sees what is left; None at the end."""
    parts = []
    while size > 0:
        part = os.read(stream.fileno(), min(size, 1 << 20))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
