"""The program ``forebay``: its verbs, and the only place that turns errors into exit statuses."""

import errno
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TextIO, cast

import click

from forebay.cli import signals
from forebay.cli.output import in_line, written
from forebay.errors import Defect
from forebay.words import one_line

# verb: its line in `forebay --help`. The verb's command is `command` in forebay.cli.<verb>.
_VERBS = {
    "size": "The smallest buffer that meets the scenario's goals, with the evidence.",
    "run": "One answer from one engine.",
    "compare": "The same scenario in several engines, side by side.",
    "sweep": "Many runs: a scenario with every combination of values, stored.",
    "sensitivity": "Which input moves the smallest buffer how much.",
    "measure": "Estimates of the traffic, and a scenario, from captures, counters or flow records.",
    "network": "A whole network: every link, and every class of connections.",
    "reproduce": "The papers' tables and figures, compared with the published values.",
    "trace": "One replication over time: windows, queue, synchronization.",
    "report": "Print or draw a stored answer.",
    "platforms": "Write a size as configuration of a router platform; lint an existing one.",
    "serve": "A page on which a link is sized while its sliders move.",
    "controls": "Congestion controls of your own, and modules of the Linux kernel.",
    "testbed": "Check if this machine can run a scenario on the testbed, and up to which rate.",
}

_ELSEWHERE, _YOURS = "make room there or write elsewhere", "name one that you may use"
_HINTS = dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), _ELSEWHERE)
_HINTS |= dict.fromkeys((errno.EACCES, errno.EROFS), _YOURS)
_HINTS |= {errno.ENOENT: "name an existing file", errno.ENAMETOOLONG: "write a shorter name"}
_HINTS |= {errno.EADDRINUSE: "name another port, or 0 for a free one"}
_HINTS |= {errno.EADDRNOTAVAIL: "name an address of this machine"}


class _Verbs(click.Group):
    """Lists the verbs and their help without importing them, so that no verb waits for others."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        command: click.Command = import_module(f"forebay.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _VERBS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], _VERBS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"write one of: {', '.join(_VERBS)}"
            raise click.UsageError(f"{args[0]}: no such command; {hint}")
        return super().resolve_command(ctx, args)

    def make_context(self, *arguments: Any, **settings: Any) -> click.Context:
        try:
            return super().make_context(*arguments, **settings)
        except KeyboardInterrupt as stop:
            raise click.exceptions.Exit(_interrupted(stop)) from None

    def invoke(self, ctx: click.Context) -> object:
        # In `call`, click would print an empty line before our message.
        stdout = sys.stdout
        answer = _Answer(stdout)
        sys.stdout = cast("TextIO", answer)
        try:
            status: object = super().invoke(ctx)
            answer.flush()
        except KeyboardInterrupt as stop:
            status = _interrupted(stop, answer)
        except OSError as error:
            if error.errno is None:
                raise
            status = _io_failed(error)
        finally:
            sys.stdout = stdout
        return 128 + signal.SIGPIPE if answer.unread else status  # as if ended by it

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_VERBS.items()))


class _Answer:
    """Standard output. If its reader ends (``| head``), the files are still written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self.unread, self.begun = stream, False, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write the text, or discard it if nobody reads it; report all of it as written."""
        with self._while_read():
            try:  # CPython handles no signal between this line and the write
                self._stream.write(text)
            finally:
                self.begun = self.begun or bool(text)  # click tries a stream with nothing
        return len(text)

    def flush(self) -> None:
        """Flush what was written."""
        with self._while_read():
            self._stream.flush()

    @contextmanager
    def _while_read(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            self.unread = True
            _discard_stdout()


@click.group(
    cls=_Verbs,
    invoke_without_command=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit status: 0 done; 1 the goals cannot be met, or a reproduction is out of its "
    "band; 2 bad input; 3 an engine cannot run here; 4 a defect of forebay: please report it.",
)
@click.version_option(
    package_name="forebay", message="%(prog)s %(version)s", help="Print the version and exit."
)
def program() -> None:
    """How large a router's buffer must be, and the evidence.

    Example: forebay size scenarios/oc3-gsr.toml
    """


def call(arguments: Sequence[str]) -> int:
    """Run the command line; return its exit status. Prints an error in one line.

    An exception with an ``exit_status`` is an error for the user. Any other exception is a defect:
    status 4, with the traceback only if FOREBAY_DEBUG is 1.
    """
    written.clear()
    if not _open_streams():
        return _fail("standard output is closed; redirect it, for example to /dev/null", 2)
    try:
        status = program.main(list(arguments), prog_name="forebay", standalone_mode=False)
        return int(status or 0)
    except click.exceptions.NoArgsIsHelpError as no_verb:
        click.echo(no_verb.format_message(), err=True)
        return no_verb.exit_code
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context else ""
        return _fail(" ".join(error.format_message().split()) + hint, 2)
    except KeyboardInterrupt as stop:
        return _interrupted(stop)
    except OSError as error:  # of --help and --version; those of a verb are handled before
        return _failed(error) if error.errno is None else _io_failed(error)
    except Exception as error:
        if signals.received():  # some libraries turn an interrupt into their own error
            return _interrupted(error)
        return _failed(error)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # SystemExit stays what it is
            raise
        return _failed(error)


def _failed(error: BaseException) -> int:
    """Print an error in one line; one that nobody foresaw has status 4."""
    status = getattr(error, "exit_status", None)
    foreseen = isinstance(status, int)
    if os.environ.get("FOREBAY_DEBUG") == "1" and (not foreseen or status == Defect.exit_status):
        sys.excepthook(type(error), error, error.__traceback__)
    if not foreseen:
        error = Defect(f"{type(error).__name__}: {error}")
    return _fail(in_line(error), int(getattr(error, "exit_status", Defect.exit_status)))


def _interrupted(stop: BaseException, answer: _Answer | None = None) -> int:
    """Print what is kept: the verb's own message, else the files written so far.

    Later signals are ignored, because they would print it again.
    """
    signals.finish()
    said = str(stop) if isinstance(stop, KeyboardInterrupt) else ""
    kept = f"kept: {', '.join(written)}" if written else "nothing was kept"
    if answer is not None and answer.begun and not written:
        kept = "the printed answer may be incomplete"
    return _fail(said or f"{signals.word()}; {kept}", signals.exit_status())


def _io_failed(error: OSError) -> int:
    """Report a file or standard output that cannot be written or read; return the status."""
    if error.filename is None:
        _discard_stdout()
    wrong = f"{error.filename or 'writing the answer'}: {os.strerror(error.errno or 0)}"
    return _fail(f"{wrong}; {_HINTS.get(error.errno or 0, 'name another path')}", 2)


def _open_streams() -> bool:
    """Open /dev/null for closed standard streams; the next file would get their number."""
    is_open = sys.stdout is not None
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number: this one
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115 - for as long as we run
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    return is_open


def _fail(message: str, status: int) -> int:
    try:
        click.echo(f"forebay: {one_line(message)}", err=True)
    except OSError:  # stderr is on a full disk; the status still reports it
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    return status


def _discard_stdout() -> None:
    """Discard unread output (``forebay … | head``) without an error, at exit too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
