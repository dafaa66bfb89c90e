"""A sender's option is a field of `Tcp`; each reaches the simulator under its own name."""

import re
from pathlib import Path

import pytest

from forebay.scenario import Tcp
from forebay.scenario.source import Sized

ROOT = Path(__file__).parents[2]
NO_OPTIONS = {"congestion_control", "rtt", "sender"}
"""Fields of `Tcp` that are drawn for each flow, or that name the stack."""
OPTIONS = sorted(Tcp.model_fields.keys() - Sized.model_fields.keys() - NO_OPTIONS)


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
