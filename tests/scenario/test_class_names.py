"""Names of traffic classes: written, or made of kind and place."""

from __future__ import annotations

import json

import pytest

from forebay.scenario import ScenarioError, loads

from .build import SMALLEST

_VOIP = '[[traffic]]\nkind = "udp"\nname = "voip"\nflows = 1\nload = 0.01\n'


def test_a_class_without_a_name_has_its_kind_and_place() -> None:
    scenario = loads(SMALLEST + _VOIP + "[[traffic]]\nflows = 2\n")
    assert scenario.class_names == ("long-0", "voip", "long-2")


def test_a_name_that_is_not_written_changes_no_hash() -> None:
    assert "name" not in loads(SMALLEST).to_dict()["traffic"][0]


@pytest.mark.parametrize("place", [0, 1])
def test_two_classes_of_one_name_are_refused(place: int) -> None:
    """Of a name that was written and one that was not, the written one is to be changed."""
    name = f"traffic.{place}.name={'long-1' if place == 0 else 'long-0'}"
    with pytest.raises(ScenarioError) as refused:
        loads(SMALLEST + "[[traffic]]\nflows = 2\n", overrides=[name])
    assert refused.value.field == f"traffic.{place}.name"
    assert "another class has this name" in str(refused.value)


@pytest.mark.parametrize("name", ["a b", "", "x" * 65, "up\x1b[31m"])
def test_a_name_is_one_as_a_link_s(name: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        loads(SMALLEST, overrides=[f"traffic.0.name={json.dumps(name)}"])
    assert refused.value.field == "traffic.0.name"
