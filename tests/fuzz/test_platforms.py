"""The linter over bytes and over damaged configurations, through the command line: never a
traceback, always an answer or one line."""

import contextlib
import io
import os
import tempfile
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from forebay.cli.program import call
from forebay.platforms import PlatformError, Port, Wanted, emit, names
from forebay.platforms.registry import get

CASES = int(os.environ.get("FUZZ_LINT_CASES", "150"))
PORT = Port(1e9)


@cache
def emitted() -> tuple[bytes, ...]:
    """A configuration of every platform, form and model."""
    made = []
    for name in names():
        platform = get(name)
        for form in platform.forms:
            for model in platform.models:
                with contextlib.suppress(PlatformError):
                    wanted = Wanted(129 * 1500, 129, "129 packets")
                    made.append(emit(wanted, PORT, name, form=form, model=model).text.encode())
    return tuple(made)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Pieces of configurations cut out, doubled, put elsewhere, with foreign bytes between."""
    text = draw(st.sampled_from(emitted()))
    for _ in range(draw(st.integers(1, 5))):
        first, last = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        to = draw(st.integers(0, len(text)))
        piece = draw(
            st.sampled_from([text[first:last], b"", b"\n", b"9" * 40, b"-", b"{", b"}", b'"'])
            | st.binary(max_size=6)
        )
        text = draw(
            st.sampled_from([text[:first] + piece + text[last:], text[:to] + piece + text[to:]])
        )
    return text


@settings(max_examples=CASES, deadline=None, derandomize=True)
@given(st.binary(max_size=200) | damaged(), st.sampled_from([None, *names()]), st.booleans())
def test_the_linter_answers_or_says_why_not(raw, name, as_json):
    with tempfile.NamedTemporaryFile() as file:
        file.write(raw)
        file.flush()
        asked = ["platforms", "lint", file.name, "--rate", "1 Gbit/s"]
        asked += ["--platform", name] if name else []
        asked += ["--json"] if as_json else []
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = call(asked)
    assert status in (0, 1, 2, 3)  # 3: a sizing that recommends none
    if status == 2:
        assert out.getvalue() == ""
        assert err.getvalue().count("\n") == 1
        assert err.getvalue().startswith("forebay: ")


def test_every_platform_is_there():
    assert len(emitted()) >= len(names())
