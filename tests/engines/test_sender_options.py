"""A sender's option is a field of `Tcp`; each reaches the simulator under its own name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from forebay.scenario import Tcp
from forebay.scenario.source import Sized

ROOT = Path(__file__).parents[2]
NO_OPTIONS = {"congestion_control", "rtt", "sender"}
"""Fields of `Tcp` that are drawn for each flow, or that name the stack."""
CALLED = {"delayed_ack_timeout_ps": "delayed_ack_ps"}
"""Options with another name in the core."""
OPTIONS = sorted(Tcp.model_fields.keys() - Sized.model_fields.keys() - NO_OPTIONS)


def keywords(path: str, begin: str, end: str) -> set[str]:
    """Return the words before "=" or ":" between two texts of a file."""
    text = (ROOT / path).read_text(encoding="utf-8")
    return set(
        re.findall(r"^\s*(\w+)[:=]", text.partition(begin)[2].partition(end)[0], re.MULTILINE)
    )


PLACES = {
    "engines/simulation/runs.py": keywords(
        "src/forebay/engines/simulation/runs.py", "        traffic.sender,", "    )\n"
    ),
    "_core.pyi": keywords(
        "src/forebay/_core.pyi", "        name: str,\n        *,\n", ") -> Profile"
    ),
    "crates/python/src/run.rs": keywords(
        "crates/python/src/run.rs", "name: &str,\n", "-> PyResult<Self>"
    ),
}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("place", PLACES)
def test_an_option_reaches_the_simulator(option, place):
    names = {option, CALLED.get(f"{option}_ps", f"{option}_ps")}
    assert PLACES[place] & names, f"sender's option {option!r} is not in {place}"


@pytest.mark.parametrize("place", PLACES)
def test_no_place_has_an_option_that_a_scenario_lacks(place):
    known = {CALLED.get(f"{name}_ps", f"{name}_ps") for name in OPTIONS} | set(OPTIONS)
    for name in PLACES[place] - known - {"name", "made"}:
        raise AssertionError(f"sender's option {name!r} of {place} is no field of Tcp")


def test_the_core_sets_what_it_is_given():
    """Each parameter of the constructor is read in its body."""
    text = (ROOT / "crates/python/src/run.rs").read_text(encoding="utf-8")
    body = text.partition("-> PyResult<Self> {")[2].partition("Ok(Self(made))")[0]
    for name in PLACES["crates/python/src/run.rs"] - {"name"}:
        assert re.search(rf"\b{name}\b", body.replace(f"made.{name}", "")), (
            f"sender's option {name!r} is not set in crates/python/src/run.rs"
        )


def test_the_testbed_says_of_each_option_what_it_does():
    """It sets the option in the kernel, or reports that it cannot."""
    folder = ROOT / "src/forebay/engines/testbed"
    texts = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    for option in OPTIONS:
        assert f".{option}" in texts, f"sender's option {option!r} is unknown to the testbed"
