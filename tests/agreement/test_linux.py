"""Our simulator with the profile `linux` against the Linux kernel as the testbed recorded it."""

from typing import Any

import pytest

from forebay.reproduction import find

AGREEMENT: Any = find("agreement.cells").load()


@pytest.mark.parametrize(
    "cell", AGREEMENT.cells(), ids=lambda cell: "-".join(map(str, cell.values()))
)
def test_utilization_loss_and_queue_agree_with_the_kernel(cell: dict[str, Any]) -> None:
    compared = AGREEMENT.compare(cell, seeds=5)
    misses = {each.quantity: each.reason for each in compared if each.reason}
    assert set(misses) == AGREEMENT.known_misses(cell), misses
    assert all(each.kernel.n >= 3 for each in compared)
