"""Names of link types whose frames are not read, by tcpdump.org's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay._core import CaptureFile

_NAMES = {
    6: "Token Ring", 8: "SLIP", 10: "FDDI", 100: "ATM, RFC 1483", 105: "IEEE 802.11",
    119: "IEEE 802.11 with Prism", 123: "SunATM", 127: "IEEE 802.11 with radiotap",
    143: "DOCSIS", 187: "Bluetooth", 189: "USB", 192: "IEEE 802.11 with PPI", 195: "IEEE 802.15.4",
    249: "USBPcap", 253: "netlink", 271: "D-Bus",
}  # fmt: skip
_MOST_KINDS = 3
READ = (
    "Ethernet with VLAN, MPLS and PPPoE, PPP, Cisco HDLC, Frame Relay, SLL, NULL, DSA, NFLOG and "
    "IP are"
)


def unread_link_types(files: Sequence[CaptureFile]) -> str:
    """Return the sentence on link types that are not read; "" if there are none."""
    types = sorted({each for file in files for each in file["unread_link_types"]})
    if not types:
        return ""
    named = " and ".join(
        f"{each}{f' ({_NAMES[each]})' if each in _NAMES else ''}" for each in types
    )
    one = len(types) == 1
    return f"link type{'' if one else 's'} {named} {'is' if one else 'are'} not read; {READ}"


def not_ip(files: Sequence[CaptureFile]) -> str:
    """Return what the frames without IP are, such as "8 ARP"; "" if that is not known."""
    kinds: dict[str, int] = {}
    for file in files:
        for kind, count in file["not_ip_kinds"].items():
            kinds[kind] = kinds.get(kind, 0) + count
    most = sorted(kinds.items(), key=lambda each: -each[1])[:_MOST_KINDS]
    return ", ".join(f"{count} {kind}" for kind, count in most)
