"""The table of flows of an Outcome: kept by its run, or of its runs once more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.api.arguments import get_engine
from forebay.errors import option

if TYPE_CHECKING:
    from forebay.engines.base import Engine
    from forebay.outcome import Outcome
    from forebay.outcome.flow_table import KeptFlows


def keep_flows(engine: Engine) -> None:
    """Let an engine keep a record of every flow.

    Raises
    ------
    ScenarioError
        It has none.
    """
    record_flows = engine.capabilities.record_flows
    if record_flows is None:
        from forebay.scenario import ScenarioError

        wrong = f"{engine.name} keeps no record of each flow"
        hint = f"write {option('engine', 'simulation')}"
        raise ScenarioError("contradiction", wrong, hint, field="flows")
    record_flows()


def flows_again(outcome: Outcome) -> KeptFlows:
    """Return the rows of the runs of an Outcome, which are made once more.

    Raises
    ------
    ScenarioError, EngineUnavailable
        Its engine keeps none, or cannot run here; a file of its scenario is not that of the run.
    """
    from forebay.api.scenario_of import scenario_of

    engine = get_engine(outcome.engine, None)
    keep_flows(engine)
    return kept_flows(engine.run(scenario_of(outcome), outcome.provenance.seeds))


def kept_flows(outcome: Outcome) -> KeptFlows:
    """Return the rows that a run kept, in blocks."""
    kept = outcome._kept_flows
    assert kept is not None, "keep_flows before the run"
    return kept
