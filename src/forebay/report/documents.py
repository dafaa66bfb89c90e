"""Read documents of `--json`, and print and draw the answers in them."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TypeAlias

from forebay.errors import Words, current_words
from forebay.outcome import Comparison, DocumentError, Outcome, SizeResult, parse
from forebay.outcome.document import content_of, within_bounds
from forebay.outcome.trace import Trace
from forebay.outcome.transient import Transient

Answer: TypeAlias = Comparison | Outcome | SizeResult | Trace | Transient

_TOLD_BY: tuple[tuple[str, type[Answer]], ...] = (
    ("outcomes", Comparison),
    ("buffer", SizeResult),
    ("samples", Trace),
    ("instants", Transient),
    ("links", Outcome),
)
"""A field that only this kind of document has."""


def read_answer(text: str | bytes, source: str) -> Answer:
    """Return the answer in a document; ``source`` names the document in messages.

    Raises
    ------
    DocumentError
        It is no document of ``run``, ``compare``, ``size``, ``trace`` or ``network``, or its schema
        is newer.
    """
    document = parse(text, source)
    for field, kind in _TOLD_BY:
        if isinstance(document, dict) and field in document:
            return _whole(kind.from_dict(document, source), source)
    wrong = "is no document of run, compare, size, trace or network"
    python = current_words() is Words.PYTHON
    raise DocumentError(source, wrong, f"make one with {'to_json()' if python else '--json'}")


def _whole(answer: Answer, source: str) -> Answer:
    """Return an answer of which all that follows from its values can be computed.

    Each value alone was checked when it was read; lists of different lengths only show here.
    """
    try:
        with warnings.catch_warnings(action="error"):
            answer.to_json()
    except (ValueError, TypeError, LookupError, ArithmeticError, RuntimeWarning) as error:
        hint = "make the document anew"
        wrong = f"its values do not fit together ({type(error).__name__}: {error})"
        raise DocumentError(source, " ".join(wrong.split())[:300], hint) from None
    return answer


def read_file(path: str) -> Answer:
    """Return the answer in a file, or with "-" on standard input. Raises DocumentError."""
    source = "standard input" if path == "-" else path
    raw = within_bounds(sys.stdin.buffer, source) if path == "-" else content_of(path)
    return read_answer(raw, source)


def print_answer(answer: Answer) -> None:
    """Print an answer as text, like the command that made it."""
    if isinstance(answer, Comparison):
        from forebay.report.comparison import print_comparison

        print_comparison(answer.outcomes)
    elif isinstance(answer, SizeResult):
        from forebay.report.size import print_size

        print_size(answer)
    elif isinstance(answer, Trace):
        from forebay.report.trace import print_trace

        print_trace(answer)
    elif isinstance(answer, Transient):
        from forebay.report.transient import print_transient

        print_transient(answer)
    elif answer.network is not None:
        from forebay.report.network import print_network

        print_network(answer)
    else:
        from forebay.report.outcome import print_outcome

        print_outcome(answer)


def draw_answer(answer: Answer, path: Path) -> None:
    """Draw an answer to a .svg, .png or .pdf file.

    Raises
    ------
    DocumentError
        It is a comparison, which has no picture.
    """
    if isinstance(answer, Comparison):
        hint = "draw each of its outcomes, which run gives one by one"
        raise DocumentError("figure", "a comparison has no picture", hint)
    from forebay.report.figures.style import save

    save(answer.figure(), path)
