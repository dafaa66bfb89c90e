"""SIGINT, SIGTERM and SIGHUP end a verb in the same way: each raises KeyboardInterrupt.

Four places cannot take an exception. An import that is cut off leaves half a module behind, and
some modules turn the exception into an ImportError. `logging` takes its lock before a fork and
gives it back behind; an exception in these functions goes nowhere, and the lock is never given
back. `tempfile` makes a file or a folder before anything knows its name, so that nothing would
remove it. Code that already cleans up after an interrupt would stop half-way. In the first three
cases the exception comes when they are done; in the fourth none is needed. What swallows it all
the same is interrupted again.
"""

from __future__ import annotations

# What the module `signal` wraps. That one imports enum first, which takes ten times as long as
# all of this file, and an interrupt in that time would be a traceback.
import _signal as signal  # type: ignore[import-not-found]
import sys

TYPE_CHECKING = False  # nor typing
if TYPE_CHECKING:
    from types import FrameType

_WORDS = {
    getattr(signal, name): word
    for name, word in (("SIGINT", "interrupted"), ("SIGTERM", "terminated"), ("SIGHUP", "hung up"))
    if hasattr(signal, name)
}
STOPPING = tuple(_WORDS)
_WHEN_DONE_S = 0.01
_AGAIN_S = 0.3
_LOCKING = ("_acquireLock", "_releaseLock")
"""Functions of logging up to Python 3.12; later ones are written in C, which no signal enters."""
_TEMPFILE = ("/tempfile.py", "\\tempfile.py")

_received: int | None = None


def install() -> None:
    """Raise KeyboardInterrupt for each of `STOPPING` that the caller has not switched off."""
    for number in STOPPING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, or a job in the background
            signal.signal(number, _on_signal)
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda _, frame: _deliver(frame))


def finish() -> None:
    """Take no signal any more: the exit status is decided.

    What `install` has not taken stays: in another program, `call` leaves its handlers alone.
    """
    taken = [number for number in STOPPING if signal.getsignal(number) is _on_signal]
    for number in taken:
        signal.signal(number, signal.SIG_IGN)
    if taken:
        _again_in(0.0)


def received() -> bool:
    """Whether one has come, whatever became of its exception."""
    return _received is not None


def exit_status() -> int:
    """Return 130 after SIGINT, 143 after the others: as of a process that the signal ended."""
    if _received in (None, signal.SIGINT):
        return 128 + int(signal.SIGINT)
    return 128 + int(signal.SIGTERM)


def word() -> str:
    """Return what happened, to begin a sentence with."""
    return _WORDS[_received or signal.SIGINT]


def _on_signal(number: int, frame: FrameType | None) -> None:
    global _received
    _received = _received or number
    _deliver(frame)


def _deliver(frame: FrameType | None) -> None:
    if _cleans_up(sys.exception()):
        return
    waits = _must_end(frame)
    _again_in(_WHEN_DONE_S if waits else _AGAIN_S)
    if not waits:
        raise KeyboardInterrupt


def _again_in(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _must_end(frame: FrameType | None) -> bool:
    """Whether an import, logging's lock or tempfile works in `frame` or in one that called it."""
    while frame is not None:
        code = frame.f_code
        file = code.co_filename
        if file.startswith("<frozen importlib") or file.endswith(_TEMPFILE):
            return True
        if code.co_name in _LOCKING:
            return True
        frame = frame.f_back
    return False


def _cleans_up(error: BaseException | None) -> bool:
    """Whether an interrupt is being handled, perhaps with another error on top of it."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__context__
    return False
