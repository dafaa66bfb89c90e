"""Documents of `--json` from before: read as if they had said what was added since."""

from __future__ import annotations

from forebay.engines.simulation import SimulationEngine
from forebay.outcome import Outcome
from forebay.scenario import loads

TEXT = """
link.rate = "5 Mbit/s"
queue.size = "10 packets"
measure = { warmup = "1 s", duration = "1 s" }
[[traffic]]
flows = 2
[[traffic]]
kind = "short"
length = "3 packets"
load = 0.2
name = "web"
"""
ADDED = (
    "name", "link", "transfers", "unfinished", "fct_least_s", "fct_open", "queue_delay_s",
    "controllers",
)  # fmt: skip


def test_a_document_is_read_back_equal_and_an_older_one_too() -> None:
    outcome = SimulationEngine().run(loads(TEXT), [1, 2], jobs=1)
    document = outcome.model_dump(mode="json", by_alias=True)
    assert [each.name for each in outcome.classes] == ["long-0", "web"]
    assert Outcome.model_validate(document) == outcome
    for kind in document["classes"]:
        for field in ADDED:
            del kind[field]
    for link in document["links"].values():
        del link["capacity_bps"], link["most_packets"]
    old = Outcome.model_validate(document)
    assert [each.name for each in old.classes] == ["long-0", "short-1"]
    assert old.classes[1].fct_s == outcome.classes[1].fct_s
    assert old.classes[1].unfinished is None
