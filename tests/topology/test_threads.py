"""A run over a network gives the same answer on any number of threads.

That it uses them, and random networks, are tested in crates/sim (`parallel/tests.rs`).
"""

from pathlib import Path

import pytest

import forebay

LOT = Path(__file__).with_name("parking-lot.toml")
SHORT = ["measure.warmup=500 ms", "measure.duration=500 ms"]
MIX = 'traffic=[{flows=200,congestion_control="bbr"},{kind="udp",flows=50,rate="1 Mbit/s"}]'


@pytest.mark.parametrize("changes", [[], [MIX], ["queue.discipline=fq_codel"]], ids=str)
def test_the_answer_does_not_depend_on_the_number_of_threads(changes):
    scenario = forebay.load(LOT, SHORT + changes)
    outcomes = [
        forebay.run(scenario, engine="simulation", seeds=1, jobs=jobs).to_dict()
        for jobs in (1, 2, 3)
    ]
    for outcome in outcomes:
        assert outcome["provenance"].pop("wall_s") > 0.0
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert outcomes[0]["provenance"]["packets"] > 10_000
