"""Defaults that nobody chose are said.

What is said of links of every kind is kept in `tests/search/kept-parts.json`.
"""

import pytest

from forebay.scenario import Scenario, loads
from forebay.search.remarks import assumed as assumptions

LINK = '[link]\nrate = "10 Mbit/s"\n[queue]\nsize = "100 packets"\n[[traffic]]\n'
ALL = (
    "a round trip of 100 ms for every flow",
    "congestion control reno",
    "access links of 100 Mbit/s, ten times the link",
    "the stack of Linux in its present release",
    "flows that start within 10 s",
    "packets of 1500 B",
    "hosts with segmentation offload, which send bursts of up to 64 KiB",
)


def made(traffic: str) -> Scenario:
    return loads(LINK + traffic)


def test_every_default_that_moves_an_answer_is_said():
    assert assumptions(made("flows = 5")) == ALL


@pytest.mark.parametrize(
    ("field", "index"),
    [
        ('rtt = { uniform = ["99 ms", "101 ms"] }', 0),
        ('congestion_control = "reno"', 1),
        ('access_rate = "100 Mbit/s"', 2),
        ('sender = "linux"', 3),
        ('start = { uniform = ["0 s", "10 s"] }', 4),
        ('packet = "1500 B"', 5),
    ],
)
def test_what_was_chosen_is_not_said_even_if_it_is_the_default(field, index):
    said = assumptions(made(f"flows = 5\n{field}"))
    assert said == (*ALL[:index], *ALL[index + 1 :])


@pytest.mark.parametrize(
    ("written", "is_said"),
    [
        ('access_rate = "10 Mbit/s"', True), ('access_rate = "9.6 Mbit/s"', True),
        ('access_rate = "10.6 Mbit/s"', False),
        ('access_rate = "10 Mbit/s"\njitter = "0 s"', False),
    ],
)  # fmt: skip
def test_hosts_as_fast_as_the_link_are_said_to_have_no_jitter(written, is_said):
    said = assumptions(made(f"flows = 5\n{written}"))
    assert any("without jitter" in str(each) for each in said) == is_said


def test_a_change_keeps_what_was_chosen():
    asked = made('flows = 5\nrtt = "100 ms"').replace({"queue.size": "20 packets"})
    assert assumptions(asked) == ("the same round trip for every flow", *ALL[1:])


@pytest.mark.parametrize(
    ("first", "second", "is_said"),
    [("20 ms", "20 ms", True), ("20 ms", "21 ms", False), ("20 ms", "", False)],
)
def test_round_trips_that_are_all_alike_are_said(first, second, is_said):
    rtts = [f'rtt = "{rtt}"\n' if rtt else "" for rtt in (first, second)]
    said = assumptions(made(f"flows = 1\n{rtts[0]}[[traffic]]\nflows = 1\n{rtts[1]}"))
    assert ("the same round trip for every flow" in said) == is_said
    assert "the same round trip for every flow" not in assumptions(made(f"flows = 1\n{rtts[0]}"))


def test_packets_of_a_list_are_no_default(tmp_path):
    (tmp_path / "film.csv").write_text("0,300\n1,500\n")
    others = 'kind = "replay"\nflows = 1\nstart = "0 s"\naccess_rate = "1 Gbit/s"'
    assert assumptions(made(f'{others}\nfile = "{tmp_path}/film.csv"')) == ()


def test_a_load_at_its_access_link_is_no_contradiction():
    made('kind = "udp"\nflows = 1\nload = 2.0\naccess_rate = "10 Mbit/s"')


@pytest.mark.parametrize(("assumed", "named"), [(4, "a, b, c, d"), (5, "a, b, c and 2 more")])
def test_many_classes_that_assume_a_default_are_counted(assumed, named):
    names = "abcde"[:assumed]
    classes = [f'name = "{name}"\nflows = 1\n[[traffic]]\n' for name in names]
    said = assumptions(made("".join(classes) + 'flows = 1\nrtt = "20 ms"'))
    assert said[0] == f"a round trip of 100 ms for every flow ({named})"
