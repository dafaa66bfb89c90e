"""Forebay itself: defects, and packages beside it."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "defect": (
        "a defect of forebay: {what}",
        "please report it with the command and its files; FOREBAY_DEBUG=1 in the environment shows "
        "where it happened",
    ),
    "impossible-outcome": (
        "engine {engine} computed an impossible value ({invariant}: {where}); this is a defect of "
        "forebay",
        "please report it, with the scenario and the seeds",
    ),
    "incomplete-record": ("catalogue: the {what} '{name}' {why}", ""),
    "missing-package": (
        "{needs} needs {package}, which is not installed",
        "write pip install '{wanted}'",
    ),
    "broken-plugin": ("the entry point '{name}' {why}", "fix or uninstall {where}"),
}
