"""``make mutants``: does some test fail if a line is changed?

cosmic-ray makes the mutants of the packages that decide an answer, cargo-mutants those of
crates/sim. A fixed sample of them is tested, each by the tests that execute its line. Mutants are
chosen by a hash of the line and of the change, so a change elsewhere leaves the sample as it is. A
survivor is caught by a new test, or it is equivalent, with the proof in equivalent.toml.

It runs in an environment of its own (build/mutants/venv), the tests in copies of the repository.
"""

import argparse
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

from covering import Covering
from of_python import Mutant, mutants
from of_rust import of_crate
from tree import ROOT, copies

COPIES = 2
LEAST_CAUGHT, MOST_EQUIVALENT = 0.90, 0.05


def main() -> int:
    """Test the sample; 1 if too few of them are caught, or too many are called equivalent."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=int, default=100, help="mutants of Python packages")
    parser.add_argument("--rust", type=int, default=12, help="mutants of crates/sim")
    parser.add_argument("--sample", type=int, default=1, help="number of the sample")
    parser.add_argument("--again", action="store_true", help="the tests have not changed since")
    asked = parser.parse_args()
    known = tomllib.loads(Path(__file__).with_name("equivalent.toml").read_text("utf-8"))
    proofs = {each["mutant"]: each["proof"] for each in known["equivalent"]}
    survivors = _of_python(asked.python, asked.sample, again=asked.again) if asked.python else []
    if asked.rust:
        survivors += of_crate(asked.rust, asked.sample)
    return _report(survivors, asked.python + asked.rust, proofs)


def _of_python(many: int, number: int, *, again: bool) -> list[str]:
    """Return the survivors among the mutants of the Python packages."""
    sample = mutants(ROOT, many, number)
    with copies(COPIES) as trees:
        covering = Covering(trees[0], again=again)
        free: Queue[Path] = Queue()
        for tree in trees:
            free.put(tree)

        def survives(mutant: Mutant) -> bool:
            tree = free.get()
            try:
                lives = covering.passes(mutant, tree)
                said = "lives" if lives else "caught"
                print(f"{said}: {mutant.file}:{mutant.line} {mutant}", flush=True)
                return lives
            finally:
                free.put(tree)

        with ThreadPoolExecutor(COPIES) as pool:
            alive = list(pool.map(survives, sample))
    return [str(mutant) for mutant, lives in zip(sample, alive, strict=True) if lives]


def _report(survivors: list[str], many: int, proofs: dict[str, str]) -> int:
    """Print the survivors, and whether there are few enough."""
    equivalent = [each for each in survivors if each in proofs]
    missed = [each for each in survivors if each not in proofs]
    for each in missed:
        print(f"survived: {each}")
    for each in equivalent:
        print(f"equivalent: {each}: {proofs[each]}")
    caught = many - len(survivors)
    judged = many - len(equivalent)
    print(f"{caught} of {many} caught, {len(equivalent)} equivalent, {len(missed)} survived")
    enough = caught >= LEAST_CAUGHT * judged and len(equivalent) <= MOST_EQUIVALENT * many
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
