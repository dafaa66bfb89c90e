"""Find the smallest buffer that meets the goals, with a given engine: `search.search`."""

from forebay.lazy import attributes

__getattr__ = attributes(
    __name__,
    {
        "GOAL_KINDS": "goals",
        "Goal": "goals",
        "GoalKind": "goals",
        "GoalNotAnswered": "goals",
        "Interrupted": "stopping",
        "LawContext": "problem",
        "NoGoals": "goals",
        "NobodyCrosses": "goals",
        "Options": "options",
        "Problem": "problem",
        "SizingError": "goals",
        "TooLittleTime": "cost",
        "fitted": "run_within",
        "goals_of": "goals",
        "predict_run": "run_within",
        "problem_of": "problem",
    },
)
