"""What every test may rely on, however the suite was started."""

import os
import signal
from collections import Counter

import pytest
from hypothesis import settings

# A busy machine makes any single example slow; what matters is the answer. The examples hang on
# the test alone, so that a change is judged by what it changed: `make fuzz` draws others, and so
# does `pytest --hypothesis-profile=search`.
_LONG = os.environ.get("FOREBAY_LONG") == "1"
settings.register_profile("short", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("long", deadline=None, derandomize=True, max_examples=100)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile("long" if _LONG else "short")


def pytest_configure(config: pytest.Config) -> None:
    """Name the marker of what takes too long for each change."""
    config.addinivalue_line("markers", "long: only with FOREBAY_LONG=1, as in `make long`")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what is long, unless it is asked for."""
    if item.get_closest_marker("long") and not _LONG:
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
