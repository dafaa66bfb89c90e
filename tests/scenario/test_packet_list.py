"""Packets from a CSV file: where it is looked for, what it means, and hostile bytes."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refused import refused

from forebay.scenario import Replay, ScenarioError, dumps, load, loads
from forebay.scenario.traffic import PacketList

TEXT = """
queue.size = "10 packets"
link.rate = "10 Mbit/s"
traffic = [{ kind = "replay", flows = 2, file = "film.csv" }]
"""


def write(folder: Path, content: bytes) -> Path:
    (folder / "film.csv").write_bytes(content)
    (folder / "s.toml").write_text(TEXT)
    return folder / "s.toml"


@pytest.mark.parametrize(
    "content",
    [
        b"time_s,bytes\n0,100\n0.5,1500\n1.5,200\n",
        b"\xef\xbb\xbftime_s, bytes\r\n0.0, 100\r\n5e-1,1500\r\n1.5,200",
        b"0,100\n.5,1500\n1.5,2e2\n\n",
    ],
)
def test_times_and_sizes(tmp_path: Path, content: bytes) -> None:
    (group,) = load(write(tmp_path, content)).traffic
    assert isinstance(group, Replay)
    assert group.file.at_ps.tolist() == [0, 5 * 10**11, 15 * 10**11]
    assert group.file.bytes.tolist() == [100, 1500, 200]
    assert (group.packet, group.most_packets()) == (600, 6)
    assert group.flow_rate(0.0) == pytest.approx(1800 * 8 / 2.25)
    with pytest.raises(ValueError, match="read-only"):
        group.file.bytes[0] = 1


def test_the_hash_is_of_the_packets(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    first, second = load(write(one, b"0,100\n1,99\n")), load(write(other, b"0.0,100\n1.0,99"))
    assert first == second
    assert first.sha256() == second.sha256()
    assert load(write(other, b"0,100\n1,98\n")).sha256() != first.sha256()
    assert loads(dumps(first)) == first
    assert first.to_dict()["traffic"][0]["file"] == str(one / "film.csv")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no packets"),
        (b"time_s,bytes\n", "no packets"),
        (b"1,2,3\n", "two numbers"),
        (b"1\n", "two numbers"),
        (b"1,2\n3\n", "two numbers"),
        (b"1,,2\n", "two numbers"),
        (b"nan,100\n", "other text"),
        (b"\x00\xff\xfe", "other text"),
        (b"0,0x10\n", "other text"),
        (b"0,0\n", "packet 1: its size"),
        (b"0,1.5\n", "packet 1: its size"),
        (b"0,70000\n", "packet 1: its size"),
        (b"-1,100\n", "packet 1: its time"),
        (b"0,100\n86401,100\n", "packet 2: its time"),
        (b"0,100\n2,100\n1,100\n", "packet 3: its time"),
        (b"1e999,100\n", "packet 1: its time"),
    ],
)
def test_hostile_content(tmp_path: Path, content: bytes, said: str) -> None:
    with refused(said, field="traffic.0.file"):
        load(write(tmp_path, content))


@pytest.mark.parametrize("path", ["/dev/zero", "none.csv", ".", "a\\u0000b", ""])
def test_what_is_no_file(tmp_path: Path, path: str) -> None:
    scenario = write(tmp_path, b"0,1\n")
    with pytest.raises(ScenarioError) as caught:
        load(scenario, overrides=[f'traffic.0.file="{path}"'])
    assert caught.value.code in ("file-unreadable", "wrong-type")


@given(st.binary(max_size=60) | st.text("0123456789,.-+eE \n", max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused_in_one_line(content: bytes) -> None:
    try:
        assert len(PacketList.of("x.csv", content)) > 0
    except ScenarioError as error:
        assert len(str(error).splitlines()) == 1
