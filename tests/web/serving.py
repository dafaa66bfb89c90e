"""A server of the workbench in a process of its own, and requests to it."""

import http.client
import json
import signal
import subprocess
import sys
from typing import Any

QUICK: dict[str, Any] = {
    "link": {"rate": "10 Mbit/s"},
    "queue": {"size": "20 packets"},
    "traffic": [{"kind": "long", "flows": 10, "rtt": {"uniform": ["40 ms", "60 ms"]}}],
    "measure": {"warmup": "5 s", "duration": "10 s"},
    "goals": {"utilization": 0.9},
}
JSON = {"Content-Type": "application/json", "X-Client": "tests-tests"}


def served(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    """Return a server and its host and port."""
    code = "import sys; from forebay.cli.program import call; from forebay.cli import main; main()"
    port = () if "--port" in arguments else ("--port", "0")
    command = [sys.executable, "-c", code, "serve", *port, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return process, process.stdout.readline().split()[-1].split("/")[2]


def ended(process: subprocess.Popen[str]) -> None:
    """End a server."""
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)


def ask(place, method, path, body=None, headers=None):
    """Return status, text and headers of one request."""
    connection = http.client.HTTPConnection(place, timeout=60)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.read().decode(), dict(response.getheaders())
    finally:
        connection.close()


def post(place, path, value, client="tests-tests"):
    """Return status and JSON of a request."""
    headers = {**JSON, "X-Client": client}
    status, text, _ = ask(place, "POST", path, json.dumps(value), headers)
    return status, json.loads(text)


def events(text: str) -> list[tuple[str, dict]]:
    """Return the events of a stream."""
    lines = [event.split("\n") for event in text.split("\n\n") if event]
    return [(name[len("event: ") :], json.loads(data[len("data: ") :])) for name, data in lines]


def asked(place, path, question, client="tests-tests"):
    """Return the events that answer a question."""
    headers = {**JSON, "X-Client": client}
    return events(ask(place, "POST", path, json.dumps(question), headers)[1])


def the(told, name: str) -> dict:
    """Return the one event of a name."""
    (found,) = [data for each, data in told if each == name]
    return found


def running(place) -> int:
    """Return the number of questions that a server works on."""
    return json.loads(ask(place, "GET", "/start")[1])["running"]
