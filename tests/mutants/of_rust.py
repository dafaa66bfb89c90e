"""The mutants of crates/sim, by cargo-mutants."""

import hashlib
import json
import re
import subprocess
from typing import Any

from tree import ROOT

_OUT = ROOT / "build/mutants"
_TIMEOUT_S = 120


def of_crate(many: int, sample: int) -> list[str]:
    """Return the survivors among so many mutants of the simulator."""
    every = json.loads(_run("--list", "--json").stdout)
    chosen = sorted(every, key=lambda each: _order(each, sample))[:many]
    exact = [f"--re=^{re.escape(each['name'])}$" for each in chosen]
    # `--re` keeps none out that leaves a field to its default: those of other files are.
    exact += [f"--file={each['file']}" for each in chosen]
    # Without the baseline: `make test` has shown that the tests pass.
    _run(*exact, "--baseline=skip", f"--timeout={_TIMEOUT_S}", f"--output={_OUT}", "--no-times")
    found = json.loads((_OUT / "mutants.out/outcomes.json").read_text())
    names = {each["name"] for each in chosen}
    outcomes = [
        each
        for each in found["outcomes"]
        if isinstance(each["scenario"], dict) and each["scenario"]["Mutant"]["name"] in names
    ]
    assert len(outcomes) == len(chosen), f"{len(outcomes)} of {len(chosen)} mutants were tested"
    alive = [each["scenario"]["Mutant"] for each in outcomes if each["summary"] == "MissedMutant"]
    return [_name(each) for each in alive]


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = ["cargo", "mutants", "--package", "forebay-sim", *arguments]
    return subprocess.run(line, cwd=ROOT, check=False, text=True, stdout=subprocess.PIPE)


def _order(mutant: dict[str, Any], sample: int) -> str:
    return hashlib.sha256(f"{sample} {_name(mutant)}".encode()).hexdigest()


def _name(mutant: dict[str, Any]) -> str:
    """Return a mutant's name without its place in the file."""
    return re.sub(r":\d+:\d+", "", str(mutant["name"]))
