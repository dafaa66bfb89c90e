"""An SNMPv2c agent of a few objects on loopback, on pysnmp's messages."""

import socket
import threading
import time

from pyasn1.codec.ber import decoder, encoder
from pysnmp.proto import api
from pysnmp.proto.rfc1905 import endOfMibView, noSuchInstance

V2C = api.PROTOCOL_MODULES[api.SNMP_VERSION_2C]


class Router:
    """``ge-0/0/1``, ifIndex 7, sends so many bits per second and drops one packet in a hundred."""

    def __init__(self, drops=0.01, bits_per_s=1e6, port=0):
        self.drops, self.bits_per_s, self.begin = drops, bits_per_s, time.monotonic()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", port))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self.socket.close()

    def objects(self):
        packets = int((time.monotonic() - self.begin + 100) * self.bits_per_s / 12_000)
        table = "1.3.6.1.2.1.31.1.1.1"
        return {
            f"{table}.1.3": V2C.OctetString("lo"),
            f"{table}.1.7": V2C.OctetString("ge-0/0/1"),
            f"{table}.10.7": V2C.Counter64(packets * 1500),
            f"{table}.11.7": V2C.Counter64(packets),
            "1.3.6.1.2.1.2.2.1.19.7": V2C.Counter32(int(packets * self.drops)),
        }

    def _serve(self):
        while True:
            try:
                data, peer = self.socket.recvfrom(65536)
            except OSError:
                return
            message, _ = decoder.decode(data, asn1Spec=V2C.Message())
            if str(V2C.apiMessage.get_community(message)) == "public":
                self.socket.sendto(encoder.encode(self._answer(message)), peer)

    def _answer(self, message):
        asked, told = V2C.apiMessage.get_pdu(message), self.objects()
        answer = V2C.apiMessage.get_response(message)
        names = [str(name) for name, _ in V2C.apiPDU.get_varbinds(asked)]
        if asked.isSameTypeWith(V2C.GetRequestPDU()):
            bound = [(V2C.ObjectIdentifier(n), told.get(n, noSuchInstance)) for n in names]
        else:
            bound = [self._next(told, names[0])]
        V2C.apiPDU.set_varbinds(V2C.apiMessage.get_pdu(answer), bound)
        return answer

    def _next(self, told, name):
        def key(oid):
            return tuple(map(int, oid.split(".")))

        after = sorted((oid for oid in told if key(oid) > key(name)), key=key)
        if not after:
            return V2C.ObjectIdentifier(name), endOfMibView
        return V2C.ObjectIdentifier(after[0]), told[after[0]]
