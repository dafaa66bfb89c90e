"""Each field of a question, a request and a grid at its edges: an answer, or 422 and status 2."""

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest
import tomli_w
from edges import WRONG, Tree, sampled, with_edges
from test_every_field import MODELS, TABLES
from tests.web.serving import JSON, QUICK, ended, served

import forebay

_PARTS = {"name", "link", "queue", "traffic", "goals", "measure"}
_ASKED: dict[str, tuple[Tree, str]] = {
    name: place
    for name, place in TABLES.items()
    if not {"topology", "links"} & set(place[0]) and name != "Replay"
}
"""What the page may ask: one link."""


@pytest.fixture(scope="module")
def connection() -> Iterator[http.client.HTTPConnection]:
    pytest.importorskip("starlette", reason="the extra forebay[web] is not installed")
    process, place = served()
    made = http.client.HTTPConnection(place, timeout=60)
    yield made
    made.close()
    ended(process)


def status_of(connection: http.client.HTTPConnection, path: str, body: bytes | str) -> str:
    """Return "" where a request is answered or refused in one line, else what came."""
    connection.request("POST", path, body, JSON)
    response = connection.getresponse()
    text = response.read().decode()
    if response.status == 200:
        return ""
    told = json.loads(text)["error"]["text"] if response.status == 422 else "\n"
    return "" if "\n" not in told else f"{response.status}: {text[:200]}"


@pytest.mark.parametrize("every", [79, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", _ASKED)
def test_a_field_of_a_question(connection, name, every):
    tree, path = _ASKED[name]
    wrong = []
    for field, value, made in sampled(with_edges(tree, path, MODELS[name]), every):
        try:
            body = json.dumps(made)
        except TypeError:  # bytes are no JSON
            continue
        if came := status_of(connection, "/laws", body):
            wrong.append(f"{field} = {str(value)[:60]!r}: {came}"[:300])
    assert not wrong, "\n".join(wrong)


_NUMBERS = ("", "0", "-1", "1", "2", "9999999", "10000000", "10000001", "0" * 5000 + "12", "1e3",
            "nan", "inf", "%ED%A0%80", "٣", "1" * 5000, "+1", " 1", "1_0", "0x1")  # fmt: skip


@pytest.mark.parametrize("path", ["/replay?packets=", "/answer?budget=", "/measure?rate="])
def test_a_parameter_of_a_request(connection, path):
    small = {**QUICK, "measure": {"warmup": "50 ms", "duration": "100 ms"}}
    from urllib.parse import quote

    for number in _NUMBERS:
        for unit in ("", " s", " Mbit/s"):
            text = number if "%" in number else quote(number)
            came = status_of(connection, path + text + quote(unit), json.dumps(small))
            assert not came, (number[:40], unit)


@pytest.mark.parametrize("path", ["/laws", "/answer", "/replay", "/open", "/shipped",
                                  "/configuration", "/report"])  # fmt: skip
def test_a_body_that_is_no_question(connection, path):
    bodies = [b"", b"\xff", b"{", b"[" * 100_000, b'{"link":{"rate":"\\ud800"}}', b"1e999", b"NaN",
              b'{"text": "\\ud800"}', b'{"name": "\\u0000"}', b'{"platform": 1}'
              ]  # fmt: skip
    for value in WRONG:
        try:
            tables = [{name: value} for name in ("link", "text", "name", "platform", "kept")]
            bodies += [json.dumps(each).encode() for each in (value, *tables)]
        except TypeError:
            continue
    for body in bodies:
        came = status_of(connection, path, body)
        assert not came, (body[:80], came)


_GRID: Tree = {
    "base": "base.toml", "name": "x", "engine": "theory", "seed": 1, "seeds": 2, "ask": "run",
    "axes": {"queue.size": ["9 packets", "20 packets"],
             "traffic.0.flows": {"linear": [1, 5], "points": 3}},
    "together": [], "leave_out": [{"queue.size": "9 packets", "traffic.0.flows": {"above": 2}}],
    "design": {"kind": "random", "points": 3, "seed": 1},
}  # fmt: skip
_NUMBERS_OF_GRIDS = (0, 1, 2, 10**6 + 1, 2**63 - 1, 2**63, -(2**63), 0.5)
"""Not the most points that a grid may have, which take minutes to check."""


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value of a tree."""
    if path:
        yield path
    if not isinstance(value, dict | list):
        return
    for name, each in value.items() if isinstance(value, dict) else enumerate(value):
        yield from places(each, (*path, name))


def _grids() -> Iterator[tuple[str, Tree]]:
    for whole in (_GRID, {name: part for name, part in _GRID.items() if name != "design"}):
        for path in places(whole):
            for value in (*WRONG, *_NUMBERS_OF_GRIDS):
                made = json.loads(json.dumps(whole))
                here = made
                for part in path[:-1]:
                    here = here[part]
                here[path[-1]] = value
                yield f"{'.'.join(map(str, path))} = {str(value)[:40]!r}", made


@pytest.mark.parametrize("every", [19, pytest.param(1, marks=pytest.mark.long)])
def test_a_value_of_a_grid(tmp_path, every):
    (tmp_path / "base.toml").write_text(tomli_w.dumps(TABLES["Scenario"][0]))
    grid, wrong = tmp_path / "grid.toml", []
    for where, made in sampled(_grids(), every):
        try:
            grid.write_text(tomli_w.dumps(made), encoding="utf-8")
        except (TypeError, ValueError):  # TOML has no null, no bytes and no surrogate
            continue
        try:
            forebay.sweep(grid, only_plan=True)
        except forebay.ForebayError as error:
            if error.exit_status != 2 or "\n" in str(error):
                wrong.append(f"{where}: {error.exit_status}: {error}"[:300])
        except Exception as error:  # all are wanted
            wrong.append(f"{where}: {type(error).__name__}: {error}"[:300])
    assert not wrong, "\n".join(wrong)
