"""REPETITA's .graph files: nodes with places, directed edges with kbit/s and microseconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from forebay.topology.adjacency import Adjacency
from forebay.topology.errors import refuse
from forebay.topology.file_values import (
    CORE,
    DELAYS,
    LONGEST,
    RATES,
    in_range,
    named,
    place,
    unused,
)

if TYPE_CHECKING:
    from forebay.scenario import NetworkFile

_NODE, _EDGE = 3, 6  # words of a line


def read(file: NetworkFile) -> Adjacency:
    """Read the NODES and EDGES of a file. Raises ScenarioError."""
    made, taken = Adjacency(), set[str]()
    for number, words in _rows(file, "NODES", _NODE):
        name = unused(named(words[0])[:LONGEST] or str(number), str(number), taken)
        made.router(name, place=place(words[1], words[2], name))
    weights = set[str]()
    for number, words in _rows(file, "EDGES", _EDGE):
        here, there = (_router(file, made, word, number) for word in words[1:3])
        ends = f"{made.names[here]}->{made.names[there]}"
        kbits = (1e-3 * RATES[0], 1e-3 * RATES[1])
        rate = 1e3 * (in_range(words[4], kbits, f"the kbit/s of {ends}") or 0.0)
        micros = (1e6 * DELAYS[0], 1e6 * DELAYS[1])
        delay = 1e-6 * (in_range(words[5], micros, f"the microseconds of {ends}") or 0.0)
        made.link(here, there, CORE, rate, delay, one_way=True)
        weights.add(words[3])
    if len(weights) > 1:
        made.notes.append("the weights of its edges are not used: topology.metric is the length")
    return made


def _rows(file: NetworkFile, title: str, least: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the words of each row below a title and its line of names."""
    inside = False
    for number, line in enumerate(file.content.decode("utf-8", "replace").splitlines(), 1):
        words = line.split()
        if len(words) == 2 and words[0].isupper() and words[1].isdigit():
            inside = words[0] == title
        elif inside and words and words[0] != "label":
            if len(words) < least:
                wrong = f"{file.path}: line {number} has {len(words)} words"
                raise refuse(wrong, f"write {least} of them below {title}", "file")
            yield number, words


def _router(file: NetworkFile, made: Adjacency, word: str, line: int) -> int:
    if not (word.isdigit() and len(word) < 10 and int(word) < len(made.names)):
        wrong = f'{file.path}: line {line}: there is no node "{word[:20]}"'
        raise refuse(wrong, f"write 0 to {len(made.names) - 1}", "file")
    return int(word)
