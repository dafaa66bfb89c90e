"""What a smaller buffer costs: the link with shares of the recommended size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.catalogue.link_names import BOTTLENECK
from forebay.outcome import Cheaper
from forebay.scenario import ScenarioError

if TYPE_CHECKING:
    from forebay.outcome import Metric, Outcome, Quantiles, SizeResult
    from forebay.progress import Progress
    from forebay.scenario import Scenario

SHARES = (1.0, 0.5, 0.25, 0.125)


def with_cheaper(
    scenario: Scenario,
    result: SizeResult,
    *,
    seeds: int = 5,
    seed: int = 1,
    jobs: int = 0,
    progress: Progress | None = None,
) -> SizeResult:
    """Return a sizing with the link at 1, 1/2, 1/4 and 1/8 of its size, on the same seeds.

    The size is the recommended one, or else the least. Each is run, so a link that was too large
    for its budget is refused.

    Raises
    ------
    ScenarioError
        The answer is of smaller links, of a network or of an AQM; or there is none.
    """
    from forebay.api.run import run

    chosen = result.recommended or result.buffer
    why = _refused(scenario, result)
    if chosen is None or why is not None:
        wrong = f"shares of the answer cannot be run: {why or 'there is no answer'}"
        raise ScenarioError("contradiction", wrong, "leave it out")
    sizes = dict.fromkeys(max(1, round(share * chosen.packets)) for share in SHARES)
    outcomes: dict[int, Outcome] = {}
    for place, packets in enumerate(sizes):
        smaller = scenario.with_buffer(packets)
        outcomes[packets] = run(smaller, result.engine, seeds=seeds, seed=seed, jobs=jobs)
        if progress is not None:
            progress((place + 1) / len(sizes))
    rows = (_row(share, chosen.packets, outcomes) for share in SHARES)
    return result.model_copy(update={"cheaper": tuple(rows)})


def _refused(scenario: Scenario, result: SizeResult) -> str | None:
    if result.scaled is not None:
        return "the link itself was too large to be simulated in the time"
    if result.aqm is not None:
        return f"under {result.aqm.discipline} its aim is sized, not its limit"
    if scenario.topology is not None or scenario.flows_uncertain:
        return "it is of one link with one number of flows"
    return None


def _row(share: float, packets: int, outcomes: dict[int, Outcome]) -> Cheaper:
    size = max(1, round(share * packets))
    link = outcomes[size].links[BOTTLENECK]
    delay = link.queue_delay_s
    return Cheaper(
        share=share, packets=size, utilization=link.utilization, loss_rate=link.loss_rate,
        queue_delay_mean_s=_part(delay, "mean"), queue_delay_p99_s=_part(delay, "p99"),
    )  # fmt: skip


def _part(delay: Quantiles | None, name: str) -> Metric | None:
    found: Metric | None = None if delay is None else getattr(delay, name)
    return found
