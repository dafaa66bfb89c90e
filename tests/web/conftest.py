"""One server for the tests of this room."""

from collections.abc import Iterator

import pytest

from .serving import ended, served


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Host and port of a server."""
    pytest.importorskip("starlette", reason="the extra forebay[web] is not installed")
    pytest.importorskip("uvicorn", reason="the extra forebay[web] is not installed")
    process, place = served()
    yield place
    ended(process)
