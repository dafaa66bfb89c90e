"""Captures from links other than Ethernet: read, or refused by the name of the link type."""

import struct

import pytest

from forebay import measure

SOURCE, TARGET = bytes([192, 0, 2, 1]), bytes([198, 51, 100, 1])
IP = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 1000, 1, 0, 64, 6, 0, SOURCE, TARGET)
TCP = struct.pack(">HHIIBBHHH", 80, 50000, 1, 1, 0x50, 0x10, 1000, 0, 0)
MACS = bytes(12)
HEADS = {
    "PPPoE": (1, MACS + b"\x88\x64\x11\0\0\x02\3\xea\0\x21"),
    "PPPoE in a VLAN": (1, MACS + b"\x81\0\0\x07\x88\x64\x11\0\0\x02\3\xea\0\x21"),
    "PPPoE, cooked": (113, bytes(14) + b"\x88\x64\x11\0\0\x02\3\xea\0\x21"),
    "PPP": (9, b"\xff\3\0\x21"),
    "PPP, compressed": (9, b"\x21"),
    "PPP, serial": (50, b"\xff\3\0\x21"),
    "PPP, with direction": (204, b"\0\xff\3\0\x21"),
    "Cisco HDLC": (104, b"\x0f\0\x08\0"),
    "Cisco HDLC, broadcast": (104, b"\x8f\0\x08\0"),
    "Cisco HDLC in PPP's": (50, b"\x8f\0\x08\0"),
    "Frame Relay": (107, b"\x18\x41\3\xcc"),
    "Frame Relay, SNAP": (107, b"\x18\x41\3\0\x80\0\0\0\x08\0"),
    "Frame Relay, Cisco's": (107, b"\x18\x41\x08\0"),
    "DSA": (284, MACS + b"\x40\x10\0\0\x08\0"),
    "EDSA": (285, MACS + b"\xda\xda\0\0\x40\x10\0\0\x08\0"),
    "Broadcom's tag": (281, MACS + bytes(4) + b"\x08\0"),
    "NFLOG": (239, b"\2\0\0\0" + struct.pack("<HH", 4 + len(IP + TCP), 9)),
    "NFLOG, big-endian": (239, b"\2\0\0\0" + struct.pack(">HH", 4 + len(IP + TCP), 9)),
    "NFLOG, after a prefix": (239, b"\2\0\0\0\x06\0\x0a\0ab\0\0" + struct.pack("<HH", 44, 9)),
}


def capture(tmp_path, link_type, head):
    path = tmp_path / "link.pcap"
    frame = head + IP + TCP
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type))
        for at in range(150):
            size = len(head) + 1000
            file.write(struct.pack("<IIII", at // 50, at % 50 * 20000, len(frame), size) + frame)
    return measure.capture([path], rate="10 Mbit/s")


@pytest.mark.parametrize("kind", HEADS)
def test_the_packets_behind_each_header_are_measured(tmp_path, kind):
    told = capture(tmp_path, *HEADS[kind])
    assert told.packets == 150
    assert told.seconds == pytest.approx(2.98)
    assert told.estimates["load"].value == pytest.approx(0.04, rel=0.05)
    assert not any("frames" in each for each in told.notes)


@pytest.mark.parametrize(
    ("link_type", "name"),
    [(105, r"105 \(IEEE 802.11\)"), (195, r"195 \(IEEE 802.15.4\)"), (147, "147 is")],
)
def test_another_link_type_is_named(tmp_path, link_type, name):
    with pytest.raises(measure.MeasureError, match=f"link type {name}.* not read") as error:
        capture(tmp_path, link_type, b"")
    assert "\n" not in str(error.value)
