"""Export packets that come to a socket on loopback while it listens."""

import socket
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.measure.test_exports import FLOWS, LOAD, PACKETS, PROTOCOLS

from forebay import measure
from forebay.measure import flow_records
from forebay.measure.flow_records import place


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def sent_until(stop, port, datagrams):
    """Send the first datagram until the socket is there, and the others after it, once."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(("127.0.0.1", port))
        while not stop.wait(0.05):
            try:
                sock.send(b"")
                sock.send(b"")  # a port nobody listens at tells of it on the second
            except ConnectionRefusedError:
                continue
            for data, _ in datagrams:
                sock.send(data)
            return


@contextmanager
def router(protocol):
    """Yield the port that a router sends to while this goes on."""
    port, stop = free_port(), threading.Event()
    thread = threading.Thread(target=sent_until, args=(stop, port, PROTOCOLS[protocol]))
    thread.start()
    yield port
    stop.set()
    thread.join()


@pytest.mark.parametrize("protocol", ["v5", "v9", "ipfix"])
def test_what_routers_send_is_read_as_from_a_capture(protocol):
    with router(protocol) as port:
        told = measure.listen(str(port), 1.5, rate="100 Mbit/s")
    assert told.packets == FLOWS * PACKETS
    assert told.estimates["load"].value == pytest.approx(LOAD, rel=1e-3)
    assert told.sources == [f"udp {port}"]


def test_a_port_alone_is_on_loopback():
    assert str(place("2055")[0]) == "127.0.0.1"
    assert str(place("[::1]:2055")[0]) == "::1"
    assert place("192.0.2.1:9995")[1] == 9995


def test_what_is_kept_has_a_bound(monkeypatch):
    monkeypatch.setattr(flow_records, "MOST_BYTES", 200)
    with router("v5") as port:
        told = measure.listen(str(port), 60, rate="100 Mbit/s")
    assert told.packets < FLOWS * PACKETS
    assert any("of datagrams is the maximum" in note for note in told.notes)


def test_a_full_disk_is_told():
    with router("v5") as port, pytest.raises(measure.MeasureError, match="cannot be stored"):
        flow_records.listen(str(port), 1.5, Path("/dev/full"))


@pytest.mark.parametrize("at", ["", "router:2055", "127.0.0.1", "127.0.0.1:0", "1.2.3.4:70000"])
def test_what_is_no_place_is_told(at):
    with pytest.raises(measure.MeasureError, match=r"^at: "):
        measure.listen(at, 0.01, rate="1 Gbit/s")


def test_nothing_that_comes_is_told():
    with pytest.raises(measure.MeasureError, match=r"no datagram arrived within 0\.05 s"):
        measure.listen(str(free_port()), 0.05, rate="1 Gbit/s")


def test_a_port_in_use_is_told():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        with pytest.raises(measure.MeasureError, match="in use"):
            measure.listen(str(sock.getsockname()[1]), 0.05, rate="1 Gbit/s")


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_how_long_must_be_a_time(seconds):
    with pytest.raises(measure.MeasureError, match=r"^seconds: .*such as seconds=300"):
        measure.listen("2055", seconds, rate="1 Gbit/s")
