"""The public verb `trace`: one replication over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from forebay import laws
from forebay.api.arguments import get_engine, listed, seed_range
from forebay.errors import option
from forebay.outcome.settling import needs
from forebay.scenario import MAX_FLOWS, Duration, ScenarioError, expect_scenario
from forebay.scenario.base import whole_number
from forebay.search.run_within import warmup_for

if TYPE_CHECKING:
    from forebay.outcome.trace import Trace
    from forebay.progress import Progress
    from forebay.scenario import Scenario


def trace(
    scenario: Scenario,
    engine: str = "simulation",
    *,
    step: str = "10 ms",
    flows: Sequence[int] = (0,),
    seed: int = 1,
    memory_limit: str | None = None,
    progress: Progress | None = None,
) -> Trace:
    """Trace one replication over time.

    Parameters
    ----------
    engine : str
        An engine with packets: ``"simulation"`` or ``"testbed"``.
    step : str
        Time between two samples, with its unit.
    flows : sequence of int
        Flows whose window, round-trip time and state are sampled, numbered from 0 through the
        traffic classes in their order.

    Returns
    -------
    Trace
        Arrays over the measured window, histograms of every link, ``synchronization``,
        ``window_sum_fit``, ``long_flows``; ``to_csv``, ``to_npz``. docs/reference/readings.md
        defines each.

    Raises
    ------
    ScenarioError
        `scenario` is not a Scenario; an invalid step, or a flow that does not exist.
    EngineUnavailable
        See `forebay.engines`.

    >>> brief = {"measure.warmup": "1 s", "measure.duration": "1 s"}
    >>> seen = forebay.trace(forebay.load("oc3-gsr").replace(brief), step="100 ms")
    >>> seen.links["bottleneck"].queue_packets.shape
    (10,)
    """
    expect_scenario(scenario)
    numbers = [whole_number("flows", each, 0, MAX_FLOWS - 1) for each in listed("flows", flows)]
    every = Duration.parse_argument("step", step)
    chosen = get_engine(engine, memory_limit)
    traces = chosen.capabilities.trace
    if traces is None:
        wrong = f"{engine} cannot trace packets over time"
        raise ScenarioError(
            "contradiction", wrong, f"write {option('engine', 'simulation')}", field="engine"
        )
    (checked,) = seed_range(seed, 1)
    seen = traces(scenario, step=every, flows=numbers, seed=checked, progress=progress)
    return seen.model_copy(update={"unsettled": _with_needs(seen.unsettled, scenario)})


def _with_needs(unsettled: Mapping[str, str | None], scenario: Scenario) -> dict[str, str | None]:
    """Return the reasons with the warm-up that the flows need."""
    if not any(unsettled.values()):
        return dict(unsettled)
    warmup = warmup_for(scenario, laws.assumptions.sawtooths_s)
    return {name: None if why is None else needs(why, warmup) for name, why in unsettled.items()}
