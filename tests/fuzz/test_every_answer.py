"""Each value of each kind of answer at its edges: printed, or refused in one line, status 2."""

import contextlib
import io
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from edges import WRONG, Tree, sampled
from test_every_field import BASE
from test_every_request import places

import forebay
from forebay.outcome import Comparison, Document
from forebay.report import print_answer, read_answer

_PLAIN: Tree = BASE | {"goals": {"utilization": 0.5}}
_MIXED: Tree = BASE | {
    "goals": {"utilization": 0.5, "loss_rate": 0.9},
    "traffic": [
        {"kind": "long", "flows": 4, "rtt": "20 ms",
         "congestion_control": {"cubic": 0.5, "bbr": 0.5}},
        {"kind": "short", "load": 0.2, "length": "9 packets"},
    ]
}  # fmt: skip
_NETWORK: Tree = BASE | {
    "link": {"rate": "1 Mbit/s", "delay": "5 ms"},
    "traffic": [{"kind": "long", "flows": 9}],
    "topology": {"links": [{"between": ["a", "b"]}, {"between": ["b", "c"]}],
                 "nodes": [{"name": each, "hosts": 2} for each in "abc"]},
}  # fmt: skip
KINDS = ("run", "size", "size by theory", "comparison", "trace", "network")
_LEFT_OUT = object()
_VALUES = (*WRONG, "a\nb\ud800", [{}], {"x": 1}, _LEFT_OUT)
Path = tuple[Any, ...]


@cache
def document(kind: str) -> Tree:
    plain, mixed = (forebay.Scenario.from_dict(each) for each in (_PLAIN, _MIXED))
    made: Document
    if kind == "size":
        made = forebay.size(mixed, seeds=2, max_seeds=2, jobs=1)
    elif kind == "size by theory":
        made = forebay.size(plain, "theory")
    elif kind == "comparison":
        made = Comparison(outcomes=(forebay.run(plain), forebay.run(plain, "theory")))
    elif kind == "trace":
        made = forebay.trace(mixed, step="20 ms", flows=(0,))
    elif kind == "network":
        made = forebay.run(forebay.Scenario.from_dict(_NETWORK), "network")
    else:
        made = forebay.run(mixed)
    tree: Tree = json.loads(made.to_json())
    return tree


def edits(tree: Tree, every: int) -> Iterator[tuple[Path, Any]]:
    """Yield where a value stands in a document, and what is to stand there.

    Where not every edit is tried, only the first item of a list is edited: others are like it.
    """
    paths = (path for path in places(tree) if every == 1 or _first(path))
    return sampled(((path, value) for path in paths for value in _VALUES), every)


def _first(path: Path) -> bool:
    return all(part == 0 or isinstance(part, str) for part in path)


def edited(tree: Tree, path: Path, value: Any) -> str | None:
    """Return the text of a document with one value changed or left out; None if it is no JSON."""
    made = json.loads(json.dumps(tree))
    here = made
    for part in path[:-1]:
        here = here[part]
    here[path[-1]] = value
    if value is _LEFT_OUT:
        del here[path[-1]]
    try:
        return json.dumps(made)
    except TypeError:  # bytes
        return None


@pytest.mark.parametrize("every", [37, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_value_of_an_answer_is_printed_or_refused(kind, every):
    wrong, printed = [], 0
    for path, value in edits(document(kind), every):
        text = edited(document(kind), path, value)
        if text is None:
            continue
        where = f"{'.'.join(map(str, path))} = {str(value)[:40]!r}"
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                answer = read_answer(text, "edited.json")
                print_answer(answer)
            assert read_answer(answer.to_json().encode(), "again.json") == answer
            printed += 1
        except forebay.ForebayError as error:
            if error.exit_status != 2 or "\n" in str(error) or len(str(error)) > 1000:
                wrong.append(f"{where}: {error.exit_status}: {error}"[:300])
        except Exception as error:  # all are wanted
            wrong.append(f"{where}: {type(error).__name__}: {error}"[:300])
    assert printed and not wrong, "\n".join(wrong)
