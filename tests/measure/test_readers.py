"""Captures in every wrapping, through a pipe too, and what is wrong with one."""

import gzip
import json
import os
import random
import signal
import struct
import subprocess
import sys
import time

import pytest
from tests.cases import examples
from tests.measure.dumbbell import PACKET, pcap

from forebay import measure

IP = 0x0800
FRAMES = [(0.01 * k, (k % 7, True, 1 + 1448 * (k // 7), 1448, 16, 1, 1, 1)) for k in range(700)]


def rewritten(path, change, link_type=101):
    """Give each frame, and its length, another form."""
    plain = path.read_bytes()
    out, at = bytearray(plain[:20] + struct.pack("<I", link_type)), 24
    while at < len(plain):
        *time, kept, length = struct.unpack("<IIII", plain[at : at + 16])
        data = change(plain[at + 16 : at + 16 + kept], length)
        out += struct.pack("<IIII", *time, len(data), length + len(data) - kept) + data
        at += 16 + kept
    path.write_bytes(bytes(out))
    return path


def captured(tmp_path, link_type=101, before=b"", name="link.pcap", after=0.0):
    path = tmp_path / name
    pcap(path, [(at + after, frame) for at, frame in FRAMES])
    return rewritten(path, lambda data, _: before + data, link_type)


def ether(*tags):
    return bytes(12) + b"".join(tags)


def word(*values):
    return struct.pack(f">{len(values)}H", *values)


PPPOE = b"\x88\x64\x11\0\0\x02\3\xea\0\x21"
NFLOG = b"\2\0\0\0"
# `crates/capture/src/link_header.rs` tests more forms of each.
WRAPPED = {
    "raw IP": (101, b""),
    "Ethernet": (1, ether(word(IP))),
    "VLAN": (1, ether(word(0x8100, 5, IP))),
    "QinQ": (1, ether(word(0x88A8, 5, 0x8100, 6, IP))),
    "MPLS": (1, ether(word(0x8847), struct.pack(">II", 16 << 12, 17 << 12 | 1 << 8))),
    "MPLS in a VLAN": (1, ether(word(0x8100, 5, 0x8847), struct.pack(">I", 17 << 12 | 1 << 8))),
    "Linux SLL": (113, bytes(14) + word(IP)),
    "Linux SLL2": (276, word(IP) + bytes(18)),
    "BSD loopback": (0, struct.pack("<I", 2)),
    "PPPoE in a VLAN": (1, ether(word(0x8100, 7), PPPOE)),
    "PPPoE, cooked": (113, bytes(14) + PPPOE),
    "PPP": (9, b"\xff\3\0\x21"),
    "Cisco HDLC": (104, b"\x0f\0\x08\0"),
    "Frame Relay": (107, b"\x18\x41\3\xcc"),
    "DSA": (284, ether(b"\x40\x10\0\0\x08\0")),
    "NFLOG": (239, NFLOG + struct.pack("<HH", 4 + 52, 9)),
}


def read(*paths, **options):
    return measure.capture(paths, rate="10 Mbit/s", **options)


@pytest.mark.parametrize("name", WRAPPED)
def test_every_wrapping_holds_the_same_packets(tmp_path, name):
    told = read(captured(tmp_path, *WRAPPED[name]))
    assert (told.packets, told.estimates["tuples"].value) == (700, 7)
    assert told.estimates["packet_bytes"]["full"].value == PACKET
    assert told.seconds == pytest.approx(6.99)
    assert not any("frames" in each for each in told.notes)


@pytest.mark.parametrize(
    ("link_type", "name"),
    [(105, r"105 \(IEEE 802.11\)"), (195, r"195 \(IEEE 802.15.4\)"), (147, "147 is")],
)
def test_another_link_type_is_named(tmp_path, link_type, name):
    with pytest.raises(measure.MeasureError, match=f"link type {name}.* not read") as error:
        read(captured(tmp_path, link_type))
    assert "\n" not in str(error.value)


SNAP = b"\x00\x30\xaa\xaa\x03\x00\x00\x00"


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (SNAP + b"\x08\x00", "700 IPv4 in LLC/SNAP frames are not read"),
        (SNAP + b"\x86\xdd", "700 IPv6 in LLC/SNAP"),
        (b"\x00\x26\x42\x42\x03", "700 LLC frames"),
        (b"\x08\x06", "of 700 frames no packet crosses the link: 700 ARP frames"),
        (b"\x12\x34", "none is IP"),
    ],
)
def test_frames_without_ip_are_named(tmp_path, before, said):
    with pytest.raises(measure.MeasureError, match=said):
        read(captured(tmp_path, 1, ether(before)))


def test_packed_captures_and_several_of_them(tmp_path):
    path = captured(tmp_path)
    packed = tmp_path / "link.pcap.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read(packed).packets == 700
    assert read(packed, captured(tmp_path, name="later.pcap", after=7.0)).packets == 1400
    half = tmp_path / "half.gz"
    half.write_bytes(packed.read_bytes()[: packed.stat().st_size // 2])
    told = read(half)
    assert 0 < told.packets < 700 and any("its end" in note for note in told.notes)


def test_files_in_another_order_and_the_same_one_twice_are_refused(tmp_path):
    first, second = captured(tmp_path), captured(tmp_path, name="later.pcap", after=7.0)
    for wrong in ((second, first), (first, first)):
        with pytest.raises(measure.MeasureError, match="name each file once, in the order of"):
            read(*wrong)
    whole = first.read_bytes()
    one = (len(whole) - 24) // 700
    order = [24 + one * (k if k % 2 else 699 - k) for k in range(700)]
    first.write_bytes(whole[:24] + b"".join(whole[at : at + one] for at in order))
    with pytest.raises(measure.MeasureError, match="earlier than one before them; sort them"):
        read(first)


def test_what_cannot_be_read_is_told(tmp_path):
    path = captured(tmp_path)
    path.write_bytes(path.read_bytes()[:-5])
    told = read(path)
    assert told.packets == 699 and "its last frame is cut" in told.notes[0]
    for content, said in [(b"", "ends within its header"), (b"x" * 100, "neither pcap nor pcapng")]:
        path.write_bytes(content)
        with pytest.raises(measure.MeasureError, match=said):
            read(path)
    with pytest.raises(measure.MeasureError, match="No such file"):
        read(tmp_path / "none.pcap")
    for reader in (measure.capture, measure.exports):
        with pytest.raises(measure.MeasureError, match="records: there are none"):
            reader([], rate="10 Mbit/s")


def test_options_that_do_not_fit_are_told(tmp_path):
    path = captured(tmp_path)
    with pytest.raises(measure.MeasureError, match="its interfaces have no names"):
        read(path, interface="eth0")
    with pytest.raises(measure.MeasureError, match="write a network such as"):
        read(path, toward=["10.0.0.1/8"])
    with pytest.raises(measure.MeasureError, match="700 have the other direction"):
        read(path, toward=["192.0.2.0/24"])


def test_captures_that_are_damaged_anywhere_end_in_a_line_or_an_answer(tmp_path):
    good = captured(tmp_path, 1, ether(word(0x88A8, 5, 0x8100, 6, IP))).read_bytes()[:4000]
    chance = random.Random(4)
    path = tmp_path / "damaged.pcap"
    for _ in range(examples(300)):
        bad = bytearray(good)
        for _ in range(chance.randint(1, 20)):
            bad[chance.randrange(len(bad))] = chance.randrange(256)
        path.write_bytes(bytes(bad))
        try:
            assert read(path).packets <= 4000
        except measure.MeasureError as error:
            assert "\n" not in str(error)


def test_ipv6_tells_what_ipv4_does(tmp_path):
    def sixth(ip, length):
        head = struct.pack(">IHBB", 6 << 28, length - 20, 6, 64)
        return head + bytes(12) + ip[12:16] + bytes(12) + ip[16:20] + ip[20:]

    path = rewritten(captured(tmp_path), sixth)
    told = read(path)
    assert (told.packets, told.estimates["tuples"].value) == (700, 7)
    assert told.estimates["packet_bytes"]["full"].value == PACKET + 20
    assert read(path, toward=["::/0"]).packets == 700
    with pytest.raises(measure.MeasureError, match="700 have the other direction"):
        read(path, toward=["10.0.0.0/8"])


@pytest.mark.parametrize("damaged", [0, 50])
def test_a_record_of_a_huge_length_is_named(tmp_path, damaged):
    """Which record, where it begins, what it says, and what to do."""
    frame = b"\0" * 12 + b"\x08\0" + bytes([0x45, 0, 0, 28]) + b"\0" * 4 + bytes([64, 17, 0, 0])
    frame += bytes([10, 0, 0, 1, 10, 0, 0, 2]) + struct.pack(">HHHH", 1, 2, 8, 0)
    records = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for second in range(100):
        length = 0x7FFFFFFF if second == damaged else len(frame)
        records.append(struct.pack("<IIII", second, 0, length, length) + frame)
    path = tmp_path / "hugelen.pcap"
    path.write_bytes(b"".join(records))
    said = (
        f"record {damaged + 1} begins at byte {24 + 58 * damaged} and says that it has 2147483647 B"
    )
    if damaged:
        (note,) = [note for note in measure.capture(path, rate="1 Mbit/s").notes if "end" in note]
        assert said in note and "capture again" in note
    else:
        with pytest.raises(measure.MeasureError, match=f"{said}.*capture again"):
            measure.capture(path, rate="1 Mbit/s")


@pytest.mark.parametrize("exports", [[], ["--exports"]])
def test_a_pipe_that_nobody_fills_is_left_by_ctrl_c(tmp_path, exports):
    pipe = tmp_path / "link.pcap"
    os.mkfifo(pipe)
    code = "import sys; print('ready', flush=True); from forebay.cli import main; main()"
    words = ["measure", str(pipe), "--rate", "1 Gbit/s", *exports]
    made = subprocess.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert made.stdout.readline() == b"ready\n"
    time.sleep(1.0)
    made.send_signal(signal.SIGINT)
    _, err = made.communicate(timeout=30)
    assert (made.returncode, err) == (130, b"forebay: interrupted; nothing was kept\n")


def test_a_capture_comes_through_a_pipe_as_well(tmp_path):
    whole = captured(tmp_path)
    code = "from forebay.cli import main; main()"
    command = (
        f"cat {whole} | {sys.executable} -c '{code}' measure /dev/stdin --json --rate '10 Mbit/s'"
    )
    made = subprocess.run(["sh", "-c", command], capture_output=True, check=True)
    assert json.loads(made.stdout)["packets"] > 0
