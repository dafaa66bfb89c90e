#!/usr/bin/env python3
"""Speaks as forebay-emulator does, and moves nothing: readings follow from the plan alone.

FAKE names what it does: "well", "late" (fails the gate), "late-once PATH", "refuse", "die",
"chatter", "other-queue", "forever", "stalled" (a quarter of its losses are of stalls).
"""

import json
import os
import sys
import threading
import time


def say(**event):
    print(json.dumps(event), flush=True)


def follow_parent():
    sys.stdin.buffer.read()
    os._exit(1)


def readings(plan, lateness_s, stall_drops):
    classes, batches = len(plan["classes"]), plan["batches"]
    length_s = plan["window_ps"] / batches / 1e12
    flows = plan["flows"]["class"]  # each has got 1000 bytes, all in the first batch

    def each(count):
        return [[count] * classes for _ in range(batches)]

    zero, sent = each(0), each(80)
    delivered = [[1000 * flows.count(c) for c in range(classes)], *zero[1:]]
    histogram = [[0.0, 0.001, 0.002], [3.0, 1.0]]
    link = {
        "busy_s": [0.9 * length_s] * batches, "queue_packet_s": [5 * length_s] * batches,
        "delay_sum_s": [0.04 * classes] * batches, "queue_s": [[0.5 * length_s] * 2] * batches,
        "queue_bin_width": 4, "delay": [histogram[0], [80.0 * classes * batches - 1, 1.0]],
        "longest_s": 0.0015, "delays": [], "held": [0] * (batches + 1), "lost": [0] * batches,
        "arrivals": each(100), "drops": each(20), "marks": zero, "accepted": sent, "sent": sent,
        "sent_bytes": each(120_000), "class_busy_s": each(0.9 * length_s / classes),
        "detail": None,
    }  # fmt: skip
    return {
        "links": [link for _ in plan["links"]],
        "sent": sent, "drops": each(20), "passed": sent,
        "delivered_bytes": delivered, "timeouts": zero, "retransmissions": zero,
        "flow_bytes": [1000 for _ in plan["flows"]["class"]],
        "flow_drops": [0 for _ in plan["flows"]["class"]],
        "flow_passed": [80 for _ in plan["flows"]["class"]],
        "rtt": [histogram] * classes, "completions_s": [[0.5]] * classes,
        "unfinished_s": [[]] * classes,
        "trace": None, "packets": 1600, "events": 3200, "wall_s": 1.0,
        "gate": {
            "lateness_p50_s": 1e-5, "lateness_p99_s": lateness_s, "lateness_max_s": lateness_s,
            "tun_tx_drops": 0, "write_errors": 0, "rwnd_limited": 0.0, "sndbuf_limited": 0.0,
            "failed_connections": 0, "refused_datagrams": 0,
            "dsacks": 0, "doubled_segments": 0, "late_segments": 0, "router_cpu": 0.1, "stalls": 0,
            "drops": 1600, "stall_drops": stall_drops,
        },
        "provenance": {"emulator": "fake"},
    }  # fmt: skip


def built(link):
    same = ("discipline", "transmit_ring", "rate_bps", "delay_ps", "alpha")
    return {name: link[name] for name in same} | {"limit": {"packets": link["buffer_packets"]}}


def late_once(path):
    if os.path.exists(path):
        return False
    open(path, "w").close()
    return True


def main():
    how, *rest = os.environ.get("FAKE", "well").split()
    threading.Thread(target=follow_parent, daemon=True).start()
    with open(sys.argv[2]) as file:
        plan = json.load(file)
    if how == "refuse":
        say(event="error", code="kernel", message="opening /dev/net/tun: no", hint="ask nicely")
        return 1
    if how == "die":
        print("panicked", file=sys.stderr)
        return 101
    if how == "chatter":
        print("hello", flush=True)
    links = [built(link) for link in plan["links"]]
    if how == "other-queue":
        links = [{**link, "limit": {"packets": 1}} for link in links]
    say(event="ready", links=links, began_ns=time.monotonic_ns())
    say(event="progress", done=0.5, utilization=0.9, lateness_p99_s=1e-5)
    while how == "forever":
        time.sleep(0.05)
        say(event="progress", done=0.5, utilization=0.9, lateness_p99_s=1e-5)
    late = how == "late" or (how == "late-once" and late_once(rest[0]))
    with open(plan["result"], "w") as file:
        json.dump(readings(plan, 5e-3 if late else 1e-4, 400 if how == "stalled" else 0), file)
    say(event="done")
    return 0


status = main()
sys.stderr.flush()
os._exit(status)  # a thread still waits for our parent
