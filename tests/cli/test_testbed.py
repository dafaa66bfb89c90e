"""The testbed on the command line, with short runs that are made up."""

import json

import pytest

import forebay.engines
from forebay import testbed
from forebay.engines import EngineUnavailable
from forebay.engines.base import Capabilities
from forebay.engines.testbed import machine
from forebay.engines.testbed.retry import Trial
from forebay.scenario import Rate

REAL_GET = forebay.engines.get


def trial(rate, *faults):
    return Trial(Rate(rate * 1e6), list(faults), {"lateness_p99_s": 1e-4})


@pytest.fixture
def held(monkeypatch):
    """Make up what short runs show: the scenario's own, then the ladder."""

    def make_up(own, *ladder):
        monkeypatch.setattr(machine, "check", lambda: None)
        monkeypatch.setattr(testbed, "try_out", lambda scenario: own)
        monkeypatch.setattr(testbed, "climb", lambda: iter(ladder))

    return make_up


def test_check_says_yes_and_the_rate(forebay_, scenario, held):
    held(trial(155), trial(155), trial(311), trial(622, "delivery lateness p99 3 ms"))
    result = forebay_("testbed", "check", scenario)
    assert result.status == 0
    assert result.out == "yes; this machine can run 311 Mbit/s now (100 Reno flows)\n"
    assert "622 Mbit/s: not held: delivery lateness p99 3 ms" in result.err


def test_check_says_no_with_status_3(forebay_, scenario, held):
    held(
        trial(155, "packets dropped by the TUN devices 4, at most 0"), trial(10), trial(50, "late")
    )
    result = forebay_("testbed", "check", scenario, "--json")
    document = json.loads(result.out)
    assert result.status == 3
    assert document["holds"] is False and document["rate_bps"] == 10e6
    assert len(document["scenario"]["faults"]) == 1


def test_check_without_a_scenario(forebay_, held):
    held(None, trial(10, "late"))
    result = forebay_("testbed", "check")
    assert (result.status, result.out) == (
        3,
        "this machine can run no rate that was tried now (100 Reno flows)\n",
    )


def test_a_machine_without_a_testbed_is_3_and_one_line(forebay_, scenario, monkeypatch):
    monkeypatch.setenv("FOREBAY_EMULATOR", "/nowhere/forebay-emulator")
    for verb in (["run", scenario, "--engine", "testbed"], ["testbed", "check"]):
        result = forebay_(*verb)
        assert result.status == 3 and result.out == "" and result.err.count("\n") == 1
        assert "make testbed" in result.err


@pytest.fixture
def no_testbed(monkeypatch, link):
    known = forebay.engines.get

    def get(name):
        if name == "testbed":
            raise EngineUnavailable("it needs root", "become it", engine="testbed")
        return known(name)

    monkeypatch.setattr(forebay.engines, "get", get)


def test_compare_says_why_a_column_is_missing(forebay_, scenario, no_testbed):
    result = forebay_("compare", scenario, "--seeds", "1")
    assert result.status == 0
    assert ["theory", "simulation"] in [line.split() for line in result.out.splitlines()]
    assert "column testbed left out: engine testbed cannot run here: it needs root; become it" in (
        result.err
    )


def test_but_an_engine_that_was_named_must_run(forebay_, scenario, no_testbed):
    result = forebay_("compare", scenario, "--engine", "theory", "--engine", "testbed")
    assert result.status == 3 and result.out == ""


def test_counters_need_a_name_that_is_known(forebay_, scenario, link):
    link.capabilities = Capabilities(count_by=lambda names: None)
    result = forebay_("run", scenario, "--counters", "snmp,sflow")
    assert result.status == 2 and result.err.count("\n") == 1
    assert "'sflow'" in result.err and "snmp, netflow" in result.err
