"""Errors of a study."""

from forebay.errors import ForebayError
from forebay.scenario import ScenarioError
from forebay.scenario.errors import did_you_mean


class StudyError(ForebayError):
    """A study cannot go on: workers that die, another version, or a missing package."""

    exit_status = 3


def unknown_key(field: str, name: str, known: tuple[str, ...]) -> ScenarioError:
    """Return the error for a key that a table of a grid does not have."""
    guess, all_ = did_you_mean(name, known), ", ".join(known)
    return ScenarioError("bad-grid.key", field=field, value=name, guess=guess, known=all_)
