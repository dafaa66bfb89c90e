"""The scenario of an Outcome, to run it once more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.scenario import Scenario, ScenarioError

if TYPE_CHECKING:
    from forebay.outcome import Outcome


def scenario_of(outcome: Outcome) -> Scenario:
    """Return the scenario that ran: the run's own, or that of the document with its files.

    Raises
    ------
    ScenarioError
        A file cannot be read, or its content is no longer that of the run.
    """
    kept = outcome._scenario_of_run
    scenario = _read(outcome) if kept is None else kept
    # Without files the document is all of it, also one of an older version with another hash.
    if scenario.files and scenario.sha256() != outcome.provenance.scenario_sha256:
        wrong = f"{', '.join(scenario.files)}: the content is not that of the run"
        hint = "restore it, or run the scenario again"
        raise ScenarioError("file-changed", wrong, hint, file="outcome")
    return scenario


def _read(outcome: Outcome) -> Scenario:
    try:
        return Scenario.from_dict(outcome.scenario)
    except ScenarioError as error:
        if not error.code.startswith("file-"):
            raise error.at("outcome") from None
        hint = "relative paths start at the current folder: go to that of the run"
        raise ScenarioError(
            error.code, error.wrong, hint, file="outcome", field=error.field
        ) from None
