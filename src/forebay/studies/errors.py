"""Errors of a study."""

from forebay.errors import ForebayError
from forebay.scenario import ScenarioError
from forebay.scenario.errors import did_you_mean, show


class StudyError(ForebayError):
    """A study cannot go on: workers that die, another version, or a missing package."""

    exit_status = 3

    def __init__(self, wrong: str, hint: str) -> None:
        super().__init__("study", wrong, hint)


def bad_grid(field: str, wrong: str, hint: str, value: object = None) -> ScenarioError:
    """Return the error for a mistake in a grid."""
    return ScenarioError("bad-grid", wrong, hint, field=field, value=value)


def unknown_key(field: str, name: str, known: tuple[str, ...]) -> ScenarioError:
    """Return the error for a key that a table of a grid does not have."""
    wrong = f"{show(name)} is no key here{did_you_mean(name, known)}"
    return bad_grid(field, wrong, f"write one of: {', '.join(known)}")
