"""The examples in the docstrings of what the package offers are run as they stand."""

import doctest
import inspect
from typing import Any

import pytest

import forebay
from forebay.outcome import Metric

OFFERED = {name: getattr(forebay, name) for name in dir(forebay) if not name.startswith("_")}
NAMED = {name: one for name, one in OFFERED.items() if callable(one)} | {"Metric": Metric}
WITHOUT = {
    "ArtefactUnavailable", "BrokenPlugin", "Defect", "DocumentError", "EngineUnavailable", "NoLaw",
    "OutsideAtlas", "Sensitivity", "SizingError", "Store", "StoreError", "StudyError", "Sweep",
    "TooLittleTime", "TooMuchMemory", "Topology", "Trace", "Transfer", "UncertainSize",
    "UnknownArtefact", "UnknownEngine", "Unsupported", "workbench",
}  # fmt: skip
"""What verbs raise and return, as their examples show, or what needs a file or a browser."""


@pytest.mark.parametrize("name", sorted(NAMED))
def test_its_example_is_true(name: str) -> None:
    text = inspect.getdoc(NAMED[name]) or ""
    assert (">>>" in text) != (name in WITHOUT), f"{name} needs an example (>>>), or none"
    example = doctest.DocTestParser().get_doctest(text, {"forebay": forebay}, name, None, 0)
    said: list[Any] = []
    doctest.DocTestRunner(verbose=False).run(example, out=said.append)
    assert not said, "".join(said)
