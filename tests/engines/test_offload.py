"""Segmentation offload of senders: what a scenario chooses; off is what was simulated before."""

from pathlib import Path

import pytest

from forebay import load, run
from forebay.engines.testbed.plan import broken
from forebay.scenario import Scenario, ScenarioError, loads

SHIPPED = Path(__file__).parents[2] / "scenarios"
LINK = '[link]\nrate = "20 Mbit/s"\n[queue]\nsize = "20 packets"\n[measure]\nwarmup = "2 s"\n'
ON = 'offload = "on"\n'
BEFORE = {
    "oc3-gsr": (0.8134983135674, 0.09189673903671386, 82744),
    "mix": (0.8926017052179999, 0.06751617894888517, 255313),
    "l4s": (0.9668931806476001, 0.003389075796556501, 70326),
}
"""Utilization, loss and packets of seed 1, 5 s after 5 s, before there was segmentation offload.

Those of mix are from after the order of packets that meet was mended."""


def made(traffic: str) -> Scenario:
    return loads(f'{LINK}duration = "4 s"\n[[traffic]]\nflows = 5\n{traffic}')


@pytest.mark.parametrize("name", BEFORE)
def test_off_is_what_was_simulated_before(name):
    shipped = load(SHIPPED / f"{name}.toml")
    short = {"measure.warmup": "5 s", "measure.duration": "5 s"}
    for index, group in enumerate(shipped.to_dict()["traffic"]):
        if "start" in group:  # as it is in the shipped window
            short[f"traffic.{index}.start"] = group["start"]
    outcome = run(shipped.replace(short), seed=1)
    link = outcome.links["bottleneck"]
    seen = (link.utilization.value, link.loss_rate.value, outcome.provenance.packets)
    assert seen == BEFORE[name]


@pytest.mark.parametrize(
    ("fields", "on"),
    [
        ("", True),
        ('offload = "auto"', True),
        ('offload = "off"', False),
        ('offload = "on"', True),
        ('sender = "ns2"', False),
        ('sender = "ns2"\noffload = "auto"', False),
        ('sender = "ns2"\noffload = "on"', True),
    ],
)
def test_auto_is_what_the_stack_of_the_sender_does(fields, on):
    (group,) = made(fields).traffic
    assert group.offloads is on  # type: ignore[union-attr]


def lost(fields: str) -> float:
    found = run(made(f'congestion_control = "bbr"\nrtt = "20 ms"\n{fields}'), seed=1)
    link = found.links["bottleneck"]
    return link.loss_rate.value


def test_the_switch_reaches_the_simulator():
    assert lost('offload = "off"') != lost("") == lost('offload = "on"')
    assert made("").sha256() == made(ON).sha256() != made('offload = "off"').sha256()
    ns2 = 'sender = "ns2"\n'
    assert made(ns2).sha256() == made(f'{ns2}offload = "off"').sha256()


def test_a_segment_follows_from_the_packet_unless_it_is_written():
    assert lost(ON + "segment = 1448") == lost(ON) != lost(ON + "segment = 300")


def test_a_segment_fits_in_its_packet():
    with pytest.raises(ScenarioError, match="1501 bytes of payload do not fit"):
        made("segment = 1501")


def test_the_testbed_says_that_offload_is_one_switch_for_a_side():
    line = "segmentation offload is one switch for all senders of one side: on"
    one = "{}[[traffic]]\nflows = 5\n{}"
    assert broken(made(ON)) == broken(made("")) == []
    off = 'offload = "off"\n'
    assert line in broken(made(one.format(ON, off)))
    assert line not in broken(made(one.format(ON, f'{off}direction = "reverse"')))
