"""What classes offer, and which further links that may congest."""

import pytest

from forebay.laws.quantities import may_congest, other_queues, overload
from forebay.scenario import Link, Long, OtherLink, Scenario, Udp, load


def through_core(core: str, *others: Udp) -> Scenario:
    return Scenario(
        link=Link(rate="10 Mbit/s"),
        links=[OtherLink(name="core", rate=core)],
        traffic=[Long(flows=50, rtt="50 ms", route=["bottleneck", "core"]), *others],
    )


def test_flows_bring_a_further_link_no_more_than_the_bottleneck_lets_through():
    assert other_queues(through_core("12 Mbit/s")) == []
    assert other_queues(through_core("9 Mbit/s")) == ["core"]


@pytest.mark.parametrize(("rate", "congests"), [("1.9 Mbit/s", False), ("2.1 Mbit/s", True)])
def test_what_crosses_the_further_link_alone_comes_on_top(rate, congests):
    alone = Udp(flows=1, rate=rate, route=["core"])
    assert may_congest(through_core("12 Mbit/s", alone), "core") is congests


@pytest.mark.parametrize(("seconds", "load_of"), [(15, 2.0), (60, 1.0), (90, None)])
def test_a_list_of_packets_that_ends_before_the_run_offers_less(seconds, load_of, tmp_path):
    """Twice the link's rate for 30 s."""
    lines = "".join(f"{tenth / 10},25000\n" for tenth in range(300))
    (tmp_path / "film.csv").write_text(lines)
    (tmp_path / "film.toml").write_text(
        'link.rate = "1 Mbit/s"\nqueue.size = "9 packets"\n'
        f'measure = {{ warmup = "0 s", duration = "{seconds} s" }}\n'
        '[[traffic]]\nkind = "replay"\nflows = 1\nfile = "film.csv"\naccess_rate = "2 Mbit/s"\n'
    )
    assert overload(load(tmp_path / "film.toml")) == (load_of and pytest.approx(load_of, rel=0.01))
