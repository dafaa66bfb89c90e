"""SIGINT, SIGTERM and SIGHUP end a verb in the same way: each raises KeyboardInterrupt.

The exception must not be raised in four places. An interrupted import leaves a partial module, and
some modules turn the exception into an ImportError. `logging` acquires its lock before a fork and
releases it after; an exception in these functions is lost, and the lock stays locked. `tempfile`
makes a file or folder before the caller knows its name, so nobody would remove it. Code that
already cleans up after an interrupt would stop half-way. In the first three cases the exception is
raised when they are done; in the fourth none is needed. If other code swallows the exception, it is
raised again.
"""

# The C module that `signal` wraps. `signal` imports enum first, which takes ten times as long as
# this whole file, and an interrupt in that time would print a traceback.
import _signal as signal  # type: ignore[import-not-found]
import sys
from types import FrameType

TYPE_CHECKING = False  # importing typing would take as long

_WORDS = {
    getattr(signal, name): word
    for name, word in (("SIGINT", "interrupted"), ("SIGTERM", "terminated"), ("SIGHUP", "hung up"))
    if hasattr(signal, name)
}
STOPPING = tuple(_WORDS)
_WHEN_DONE_S = 0.01
_AGAIN_S = 0.3
_LOCKING = ("_acquireLock", "_releaseLock")
"""Functions of logging up to Python 3.12; later ones are in C, where no handler runs."""
_TEMPFILE = ("/tempfile.py", "\\tempfile.py")

_received: int | None = None


def install() -> None:
    """Raise KeyboardInterrupt for each of `STOPPING` that the caller does not ignore."""
    for number in STOPPING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, or a job in the background
            signal.signal(number, _on_signal)
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda _, frame: _deliver(frame))


def finish() -> None:
    """Ignore further signals, because the exit status is decided.

    Handlers that `install` did not set stay: `call` does not change those of another program.
    """
    taken = [number for number in STOPPING if signal.getsignal(number) is _on_signal]
    for number in taken:
        signal.signal(number, signal.SIG_IGN)
    if taken:
        _again_in(0.0)


def received() -> bool:
    """Whether a signal has arrived, even if its exception was swallowed."""
    return _received is not None


def exit_status() -> int:
    """Return 130 after SIGINT, 143 after the others, like a process that the signal ended."""
    if _received in (None, signal.SIGINT):
        return 128 + int(signal.SIGINT)
    return 128 + int(signal.SIGTERM)


def word() -> str:
    """Return the first words of the message, such as "interrupted"."""
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
    """Whether `frame` or one of its callers is in an import, logging's lock or tempfile."""
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
    """Whether an interrupt is being handled, possibly below another error."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__context__
    return False
