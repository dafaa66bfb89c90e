"""A sender's option is a field of `Tcp`, and reaches the simulator under its own name.

Segmentation offload: what a scenario chooses; off is what was simulated before.
"""

import re
from pathlib import Path

import pytest
from tests.refused import refused

from forebay import load, run
from forebay.engines.testbed.plan import broken
from forebay.scenario import Scenario, Tcp, loads
from forebay.scenario.source import Sized
from forebay.words import Fact

ROOT = Path(__file__).parents[2]
NO_OPTIONS = {"congestion_control", "rtt", "sender"}
"""Fields of `Tcp` that are drawn for each flow, or that name the stack."""
OPTIONS = sorted(Tcp.model_fields.keys() - Sized.model_fields.keys() - NO_OPTIONS)
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
    shipped = load(name)
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
    return found.links["bottleneck"].loss_rate.value


def test_the_switch_reaches_the_simulator_and_a_segment_follows_from_the_packet():
    """Unless it is written."""
    assert lost(ON + "segment = 1448") == lost(ON) != lost(ON + "segment = 300")
    with refused("1501 bytes of payload do not fit"):
        made("segment = 1501")
    assert lost('offload = "off"') != lost("") == lost('offload = "on"')
    assert made("").sha256() == made(ON).sha256() != made('offload = "off"').sha256()
    ns2 = 'sender = "ns2"\n'
    assert made(ns2).sha256() == made(f'{ns2}offload = "off"').sha256()


def test_the_testbed_says_that_offload_is_one_switch_for_a_side():
    line = Fact("kernel.offload")
    one = "{}[[traffic]]\nflows = 5\n{}"
    assert broken(made(ON)) == broken(made("")) == []
    off = 'offload = "off"\n'
    assert line in broken(made(one.format(ON, off)))
    assert line not in broken(made(one.format(ON, f'{off}direction = "reverse"')))


def test_the_simulator_has_the_options_of_a_scenario_and_no_others():
    """From the source, which may be newer than the core."""
    text = (ROOT / "crates/python/src/sender.rs").read_text(encoding="utf-8")
    listed = re.findall(r'^    "(\w+)", stack, value', text, re.MULTILINE)
    unknown, missing = sorted({*listed} - {*OPTIONS}), sorted({*OPTIONS} - {*listed})
    assert not unknown, f"sender's options {unknown} of sender.rs are no fields of Tcp"
    assert not missing, f"sender's options {missing} are not in crates/python/src/sender.rs"


@pytest.mark.parametrize("option", OPTIONS)
def test_the_testbed_says_of_each_option_what_it_does(option):
    """It sets the option in the kernel, or reports that it cannot."""
    folder = ROOT / "src/forebay/engines/testbed"
    texts = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    assert f".{option}" in texts, f"sender's option {option!r} is unknown to the testbed"
