"""Engines and laws of other distributions: found by their entry points, refused in one line."""

import json
from pathlib import Path

import pytest

from forebay.laws import registry

from .conftest import Command, declare

ENGINE = '''
import forebay

class CoinEngine:
    """An engine that asks another: enough to be an engine."""

    name = "coin"

    def run(self, scenario, seeds, effort):
        found = forebay.run(scenario, "theory")
        return found.model_copy(update={"engine": "coin"})
'''
LAW = """
from forebay.laws import Law

LAW = Law("nobody-2026/seven", "nobody, section 7", lambda s: 7.0, lambda s: None, ())
"""
SCENARIO = (
    '[link]\nrate = "155 Mbit/s"\n'
    '[[traffic]]\nflows = 300\nrtt = { uniform = ["80 ms", "120 ms"] }\n'
    "[goals]\nutilization = 0.98\n"
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder on the path with a distribution that adds an engine and a law."""
    (tmp_path / "coin.py").write_text(ENGINE)
    (tmp_path / "seven.py").write_text(LAW)
    both(tmp_path)
    (tmp_path / "x.toml").write_text(SCENARIO)
    return tmp_path


def both(site: Path, engine: str = "coin:CoinEngine", law: str = "seven:LAW") -> None:
    declare(site, "coin", f"[forebay.engines]\ncoin = {engine}\n[forebay.laws]\nseven = {law}\n")


def test_an_engine_of_others_is_run(forebay_: Command) -> None:
    done = forebay_("run", "x.toml", "--engine", "coin", "--json")
    assert done.returncode == 0, done.stderr
    assert '"engine": "coin"' in done.stdout.replace('"engine":"coin"', '"engine": "coin"')


def test_a_law_of_others_stands_beside_ours(forebay_: Command) -> None:
    done = forebay_("size", "x.toml", "--engine", "theory", "--json")
    assert done.returncode == 0, done.stderr
    assert "nobody-2026/seven" in done.stdout and "appenzeller-2004/sqrt-n" in done.stdout


def test_an_unknown_engine_is_told_those_of_others(forebay_: Command) -> None:
    done = forebay_("run", "x.toml", "--engine", "nickel")
    assert done.returncode == 2
    assert "atlas, coin" in done.stderr


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ("nowhere:CoinEngine", "cannot be loaded from nowhere:CoinEngine (ModuleNotFoundError"),
        ("coin:Nickel", "cannot be loaded from coin:Nickel (AttributeError"),
        ("os:getcwd", "is not an engine: it needs name = 'coin'"),
        ("os:sep", "cannot be made (TypeError"),
    ],
)
def test_a_broken_engine_is_one_line(site: Path, forebay_: Command, engine: str, said: str) -> None:
    both(site, engine=engine)
    done = forebay_("run", "x.toml", "--engine", "coin")
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert "forebay.engines: the entry point 'coin' " in done.stderr
    assert said in done.stderr and "uninstall coin" in done.stderr
    assert forebay_("run", "x.toml", "--engine", "theory", "--json").returncode == 0


def test_a_broken_law_is_one_line(site: Path, forebay_: Command) -> None:
    both(site, law="os:sep")
    done = forebay_("size", "x.toml", "--engine", "theory")
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1 and "is not a forebay.laws.Law; fix or" in done.stderr


def test_one_name_declared_twice_is_refused(site: Path, forebay_: Command) -> None:
    declare(site, "penny", "[forebay.engines]\ncoin = other:Engine\n")
    done = forebay_("run", "x.toml", "--engine", "coin")
    assert done.returncode == 3 and "is declared twice" in done.stderr


def test_our_names_stay_ours(site: Path, forebay_: Command) -> None:
    declare(site, "coin", "[forebay.engines]\ntheory = nowhere:Engine\n")
    assert forebay_("run", "x.toml", "--engine", "theory", "--json").returncode == 0


ANSWER = 'found.model_copy(update={"engine": "coin"})'
BODY = 'found = forebay.run(scenario, "theory")'
HEAD = "scenario, seeds, effort"


def used(utilization: str) -> str:
    link = f'found.links["bottleneck"].model_copy(update={{"utilization": {utilization}}})'
    return f'found.model_copy(update={{"links": {{"bottleneck": {link}}}}})'


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (ANSWER, "{}", "returned a dict"),
        (ANSWER, "None", "returned a NoneType"),
        (ANSWER, used("forebay.outcome.Metric(value=1.7, low=None, high=None, n=0)"),
         "fraction: links.bottleneck.utilization"),
        (ANSWER, used('"high"'), "cannot be checked"),
        (BODY, "raise RuntimeError('boom')", "raises RuntimeError: boom"),
        (BODY, "raise SystemExit(3)", "raises SystemExit: 3"),
        (BODY, "found = seeds.nothing", "raises AttributeError"),
        (HEAD, "scenario", "raises TypeError"),
    ],
)  # fmt: skip
def test_an_engine_that_returns_nonsense_or_raises_is_named(site, forebay_, before, after, said):
    assert before in ENGINE
    (site / "coin.py").write_text(ENGINE.replace(before, after))
    done = forebay_("run", "x.toml", "--engine", "coin")
    assert done.returncode == 3 and done.stderr.count("\n") == 1, done.stderr
    assert said in done.stderr and "uninstall coin" in done.stderr


def test_errors_of_forebay_and_interrupts_pass(site: Path, forebay_: Command) -> None:
    own = "raise forebay.ScenarioError('x', 'y is no such thing', 'write z')"
    (site / "coin.py").write_text(ENGINE.replace(BODY, own))
    done = forebay_("run", "x.toml", "--engine", "coin")
    assert done.returncode == 2 and "y is no such thing" in done.stderr, done.stderr
    assert "uninstall" not in done.stderr


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("lambda s: 7.0", "lambda s: -5.0", "gives -5.0 packets"),
        ("lambda s: 7.0", "lambda s: 1e300", "gives 1e+300 packets"),
        ("lambda s: 7.0", "lambda s: exit(2)", "raises SystemExit: 2"),
        ("lambda s: 7.0", "lambda s: '12'", "raises TypeError"),
        ("lambda s: 7.0", "lambda s: __import__('time').sleep(99)", "not answered within 2 s"),
        ("lambda s: None, ()", "lambda s: 1.7, ()", "gives a utilization of 1.7"),
        ("lambda s: None, ()", "lambda s: None, (lambda s: 7,)", "gives something that is no text"),
        ("nobody-2026/seven", "appenzeller-2004/sqrt-n", "has the name of another law"),
    ],
)
def test_a_law_that_gives_nonsense_leaves_the_others(
    site, forebay_, monkeypatch, before, after, said
):
    assert before in LAW
    monkeypatch.setattr(registry, "_PATIENCE_S", 2.0)
    (site / "seven.py").write_text(LAW.replace(before, after))
    done = forebay_("size", "x.toml", "--engine", "theory", "--json")
    assert done.returncode == 0, done.stderr
    by_name = {law["law"]: law for law in json.loads(done.stdout)["laws"]}
    assert by_name["seven"]["packets"] is None
    (line,) = by_name["seven"]["broken_assumptions"]
    assert said in line and "uninstall coin" in line
    assert by_name["appenzeller-2004/sqrt-n"]["packets"] > 0


def test_a_law_that_raises_leaves_the_others(site: Path, forebay_: Command) -> None:
    (site / "seven.py").write_text(LAW.replace("lambda s: 7.0", "lambda s: 1 / 0"))
    for form in ("--json", "--explain"):
        done = forebay_("size", "x.toml", "--engine", "theory", form)
        assert done.returncode == 0, done.stderr
        assert "ZeroDivisionError" in done.stdout and "appenzeller-2004/sqrt-n" in done.stdout
