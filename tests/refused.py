"""A refusal of bad input: one line that says what is wrong, with an exit status."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from forebay.scenario import ScenarioError


@contextmanager
def refused(
    said: str | None, code: str | None = None, field: str | None = None, status: int = 2
) -> Iterator[pytest.ExceptionInfo[ScenarioError]]:
    """What is done within is refused in one line in which ``said``, a pattern, is found."""
    with pytest.raises(ScenarioError, match=said) as error:
        yield error
    assert "\n" not in str(error.value) and error.value.exit_status == status
    assert code in (None, error.value.code) and field in (None, error.value.field)
