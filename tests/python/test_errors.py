"""Every error of ours comes back from another process as it went."""

import importlib
import pickle
import pkgutil
from collections.abc import Iterator
from multiprocessing import get_context

import pytest
from tests.scenarios import scenario

import forebay
from forebay.errors import ForebayError
from forebay.search.goals import NoGoals


def errors() -> list[type[ForebayError]]:
    """Return every subclass, with all modules imported."""
    for module in pkgutil.walk_packages(forebay.__path__, "forebay."):
        if ".papers." not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)

    def below(kind: type[ForebayError]) -> Iterator[type[ForebayError]]:
        for each in kind.__subclasses__():
            yield each
            yield from below(each)

    return sorted(set(below(ForebayError)), key=lambda kind: kind.__qualname__)


@pytest.mark.parametrize("kind", errors(), ids=lambda kind: kind.__qualname__)
def test_every_error_comes_back_from_a_pickle(kind):
    error = kind.__new__(kind, "one line")
    error.__dict__.update(hint="write this", code="a-code", exit_status=3, facts=(1, "two"))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind and again.args == error.args and again.__dict__ == error.__dict__


@pytest.mark.parametrize(
    ("verb", "engine", "kind"),
    [(forebay.run, "no-such-engine", forebay.UnknownEngine), (forebay.size, "theory", NoGoals)],
)
def test_a_pool_of_processes_raises_it_and_does_not_hang(verb, engine, kind):
    with get_context("spawn").Pool(1) as pool:
        waiting = pool.apply_async(verb, (scenario(), engine))
        with pytest.raises(kind) as error:
            waiting.get(timeout=60)
    assert "\n" not in str(error.value) and error.value.exit_status == 2
