"""Where a shared memory, and no size, keeps a goal from being met, the reason says so."""

import pytest

import forebay
from forebay.search.answer import memory_binds

LINK = """
name = "a chip's port"
memory = "200 kB"
link.rate = "10 Mbit/s"
queue = { size = "1 bdp", alpha = 0.5 }
measure = { warmup = "10 s", duration = "10 s" }
goals.utilization = 0.9999
[[traffic]]
flows = 2
rtt = "100 ms"
"""


@pytest.mark.parametrize(
    ("memory", "alpha", "most"),
    [("200 kB", 0.5, "44 packets"), ("300 kB", 1.0, "100 packets"), ("2 MB", 1.0, "667 packets")],
)
def test_a_queue_alone_has_alpha_of_what_it_leaves(memory, alpha, most):
    asked = forebay.scenario.loads(LINK, overrides=[f"memory={memory}", f"queue.alpha={alpha}"])
    assert most in memory_binds(asked, 1000)
    assert not memory_binds(asked, 40)


def test_a_link_of_its_own_memory_says_nothing():
    own = LINK.replace('memory = "200 kB"\n', "").replace("alpha = 0.5\n", "")
    assert not memory_binds(forebay.scenario.loads(own), 10**6)


def test_the_reason_says_it():
    answer = forebay.size(forebay.scenario.loads(LINK), max_seeds=2)
    assert answer.recommended is None
    assert "with alpha 0.5 a queue holds 44 packets of the memory at most" in answer.reason
