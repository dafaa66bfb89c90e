"""What every test may rely on, however the suite was started."""

import gc
import shlex
import signal
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import settings
from tests.cases import LONG, examples

# A busy machine makes any single example slow; what matters is the answer. The examples hang on
# the test alone, so that a change is judged by what it changed: `make fuzz` draws others, and so
# does `pytest --hypothesis-profile=search`.
settings.register_profile("forebay", deadline=None, derandomize=True, max_examples=examples(100))
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile("forebay")


def pytest_configure(config: pytest.Config) -> None:
    """Name the markers of what other commands run."""
    config.addinivalue_line("markers", "long: only with FOREBAY_LONG=1, as in `make long`")
    config.addinivalue_line("markers", "lint: only with -m lint, as in `make lint`")


def pytest_collection_finish() -> None:
    """Look for cycles among what the tests make: what was imported and collected stays alive.

    Each search of all of it, after every few hundred objects that are kept, is a seventh of the
    time of tests that parse or draw.
    """
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what another command runs, unless it is asked for."""
    if item.get_closest_marker("lint") and item.config.option.markexpr != "lint":
        pytest.skip("lint: `make lint` runs it")
    if item.get_closest_marker("long") and not LONG:
        pytest.skip("long: `make long` runs it")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests were skipped, and why, so that nothing is left out in silence."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    terminalreporter.write_line(f"{len(skipped)} tests were skipped")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count:6} {reason}")


@pytest.fixture(scope="session", autouse=True)
def _sigint_reaches_children() -> None:
    """Listen to SIGINT where the suite was started with it ignored, as by ``make test &``.

    A process passes an ignored signal on to the programs that it starts, a handler it does not:
    the children of the tests begin with the default again.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Call the command line in this process; return what it prints when it ends as it should."""
    from forebay.cli.program import call

    def run(words: str, status: int = 0) -> str:
        assert call(shlex.split(words)) == status
        return capsys.readouterr().out

    return run
