"""Our simulator with the profile `linux` against the Linux kernel as the testbed recorded it."""

from typing import Any

import pytest
from tests.cases import cases

from forebay.reproduction import Effort, Work
from forebay.reproduction.papers.agreement.kernel import CELLS, cells_of, compare

QUICK = ("100-64-reno", "100-129-cubic")
WORK = Work(CELLS, quick=False, effort=Effort(seeds=5))


def named(cell: dict[str, Any]) -> str:
    return "-".join(map(str, cell.values()))


@pytest.mark.parametrize(
    "cell", cases(cells_of(CELLS), lambda cell: named(cell) in QUICK), ids=named
)
def test_utilization_loss_and_queue_agree_with_the_kernel(cell):
    compared = compare(WORK, cell)
    assert not [each.reason for each in compared if each.reason and not each.cause]
    assert all(each.kernel.n >= 3 for each in compared)
