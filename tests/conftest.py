"""What every test may rely on, however the suite was started."""

import signal

import pytest
from hypothesis import settings

# A busy machine makes any single example slow; what matters is the answer. The examples hang on
# the test alone, so that a change is judged by what it changed: `make fuzz` draws others, and so
# does `pytest --hypothesis-profile=search`.
settings.register_profile("forebay", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile("forebay")


@pytest.fixture(scope="session", autouse=True)
def _sigint_reaches_children() -> None:
    """Listen to SIGINT where the suite was started with it ignored, as by ``make test &``.

    A process passes an ignored signal on to the programs that it starts, a handler it does not:
    the children of the tests begin with the default again.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
