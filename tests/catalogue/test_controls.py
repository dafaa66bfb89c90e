"""The catalogue's records, and the layers that register functions under the names in them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from generate import control_list
from tests.scenarios import scenario

from forebay import _core, catalogue
from forebay._core import structure_bytes
from forebay.catalogue import CONTROLS, IncompleteRecord, registered
from forebay.catalogue.record import by_name
from forebay.engines import simulation
from forebay.engines.errors import EngineUnavailable
from forebay.engines.footprint import estimate
from forebay.engines.testbed.congestion import KERNEL_NAMES
from forebay.laws.heterogeneous import PROTOCOLS

BPF = Path(catalogue.__file__).parents[1] / "engines/testbed/bpf_programs"
CC = Path(__file__).parents[2] / "crates/sim/src/cc"


def test_a_property_that_is_not_stated_is_named_with_its_record():
    stated = dict(vars(CONTROLS["reno"]))
    del stated["paced"]
    with pytest.raises(IncompleteRecord, match="control 'reno' does not state paced"):
        catalogue.Control(**stated)


def test_a_function_that_is_not_registered_is_named_with_the_record():
    with pytest.raises(IncompleteRecord, match="control 'cubic' names 'cubic', which here"):
        registered({"cubic": CONTROLS["cubic"]}, lambda each: each.response, {}, "here")


def test_a_registered_function_that_no_record_names_is_an_error():
    table = {"cubic": 1, "vegas": 2}
    with pytest.raises(IncompleteRecord, match="'vegas' of here is named by no record"):
        registered({"cubic": CONTROLS["cubic"]}, lambda each: each.response, table, "here")


def test_the_simulator_has_the_same_controls_in_the_same_order():
    assert list(CONTROLS) == _core.CONGESTION_CONTROLS


@pytest.mark.parametrize("control", CONTROLS.values(), ids=lambda each: each.name)
def test_a_record_is_consistent(control):
    assert control.kept_after_loss is None or 0 < control.kept_after_loss < 1
    assert not control.is_model_based or control.kept_after_loss is None
    assert control.is_model_based == (control.packet_cost == "model")
    assert control.is_model_based or control.probe_rtt_s is None
    assert control.bpf_program is None or control.in_kernel.startswith("fb_")
    assert control.bpf_program is None or (BPF / f"{control.bpf_program}.bpf.c").is_file()
    # The share of the window after a loss is stated once; the laws' growth functions have it too.
    growth = PROTOCOLS[control.growth].beta if control.growth is not None else None
    assert growth in (None, control.kept_after_loss)
    module = control.in_core.removeprefix("Box<").partition("::")[0]
    found = (CC / f"{module}.rs").is_file() or (CC / module / "mod.rs").is_file()
    assert found, f"control {control.name!r}: crates/sim/src/cc has no {module}.rs"


def test_the_list_of_the_simulator_is_that_of_the_records():
    for path, text in control_list.sources(CC).items():
        assert path.read_text(encoding="utf-8") == text, (
            f"{path.name} has another list than catalogue/controls.py, which ends with "
            f"{list(CONTROLS)[-1]!r}: run `make generated`"
        )


def test_every_file_that_declares_a_control_has_its_record():
    """A file that no record names is no module, so that Rust would not read it."""
    named = {each.in_core.removeprefix("Box<").partition("::")[0] for each in CONTROLS.values()}
    for path in (*CC.glob("*.rs"), *CC.glob("*/mod.rs")):
        module = path.parent.name if path.name == "mod.rs" else path.stem
        declares = "\nimpl Declared for" in path.read_text(encoding="utf-8")
        assert not declares or module in named, (
            f"cc/{module} declares a control, but catalogue/controls.py has no record of it"
        )


@pytest.mark.parametrize(
    "key, other, said",
    [
        ("name", "veno", "does not have the congestion control '(prague|veno)'"),
        ("paced", False, "paced of the congestion control 'prague' is False there, not True"),
        ("kept_after_loss", 0.7, "kept_after_loss of the congestion control 'prague' is 0.7"),
        ("marks", "loss", "answers_marks of the congestion control 'prague' is as a loss"),
    ],
)
def test_a_core_that_differs_is_refused_with_the_name_and_what_to_do(monkeypatch, key, other, said):
    built: list[Any] = list(_core.controllers())
    next(each for each in built if each["name"] == "prague")[key] = other
    monkeypatch.setattr(_core, "controllers", lambda: built)
    with pytest.raises(EngineUnavailable, match=f"{said}.*run `make setup`"):
        simulation.check_core.__wrapped__()


def test_a_core_without_lists_is_refused(monkeypatch):
    monkeypatch.delattr(_core, "controllers")
    with pytest.raises(EngineUnavailable, match="run `make setup`"):
        simulation.check_core.__wrapped__()


@pytest.mark.parametrize("control", CONTROLS.values(), ids=lambda each: each.name)
def test_memory_is_that_of_a_paced_flow_if_it_is_paced(control):
    def heap(name):
        many = scenario({"traffic.0.flows": 1000, "traffic.0.congestion_control": name})
        return estimate(many, structure_bytes()).running

    assert (heap(control.name) > heap("reno")) == control.paced


def test_the_testbed_has_all_that_a_kernel_can_have():
    assert list(KERNEL_NAMES) == [each.name for each in CONTROLS.values() if each.in_kernel]


def test_two_records_of_one_name_are_refused():
    with pytest.raises(IncompleteRecord, match="control 'reno' is stated twice"):
        by_name([CONTROLS["reno"], replace(CONTROLS["reno"], paced=True)])
