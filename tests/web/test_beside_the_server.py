"""Beside the server: the page in a notebook's frame, its modules, and a search that is observed."""

import re
import shutil
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import forebay

pytest.importorskip("uvicorn", reason="the extra forebay[web] is not installed")

from forebay.web.answering import warm_up
from forebay.web.app import PAGE, _listening
from forebay.web.notebook import packed
from forebay.web.opening import question_of, scenario_of

from .serving import QUICK

MODULES = Path(__file__).with_name("modules")
NODE = shutil.which("node")

SHOW = """
import forebay, urllib.request
shown = forebay.workbench(forebay.load("oc3-gsr"), height=700)
print(shown.address, forebay.workbench(forebay.load("mix")).address.split("#")[0])
print(shown._repr_html_())
with urllib.request.urlopen(shown.address) as answer:
    print(answer.status, answer.headers["Content-Security-Policy"])
"""


def test_a_frame_shows_the_page_and_ends_with_the_kernel():
    made = subprocess.run([sys.executable, "-c", SHOW], capture_output=True, text=True, timeout=120)
    assert made.returncode == 0, made.stderr
    addresses, frame, answer = made.stdout.splitlines()
    address, again = addresses.split()
    assert address.startswith(again) and f'src="{address}"' in frame and 'height="700"' in frame
    assert answer.startswith("200") and "frame-ancestors http://localhost:*" in answer
    with pytest.raises(OSError):
        urllib.request.urlopen(again, timeout=5)


def test_without_the_extra_one_line_says_what_to_install():
    code = f"import sys; sys.modules['uvicorn'] = None\n{SHOW}"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    last = made.stderr.splitlines()[-1]
    assert "MissingPackage" in last and "pip install 'forebay[web]'" in last


def test_a_network_is_refused():
    with pytest.raises(forebay.ForebayError, match="not for the workbench"):
        forebay.workbench(forebay.load("abilene-slow-edge-small"))
    with pytest.raises(forebay.ScenarioError):
        forebay.workbench("oc3-gsr")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["oc3-gsr", "short-flows", "video-and-tcp"])
def test_a_question_is_the_scenario(name):
    scenario = forebay.load(name)
    asked = question_of(scenario)
    assert scenario_of(asked).sha256() == scenario.sha256()
    assert re.fullmatch(r"[\w-]+", packed(asked))


def test_a_window_that_nobody_set_stays_unset():
    scenario = forebay.Scenario(link={"rate": "1 Mbit/s"}, traffic=[{"flows": 2}])
    assert "measure" not in question_of(scenario)
    assert "measure" not in scenario_of(question_of(scenario)).model_fields_set


@pytest.mark.skipif(NODE is None, reason="there is no node on this machine")
@pytest.mark.parametrize("name", sorted(path.name for path in MODULES.glob("*.test.js")))
def test_the_modules_pass_their_tests(name):
    made = subprocess.run([NODE, "--test", name], cwd=MODULES, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout


def test_the_page_loads_its_small_modules_at_once_and_nothing_from_elsewhere():
    text = (PAGE / "index.html").read_text()
    files = {path.name for path in PAGE.iterdir() if path.suffix in (".js", ".css")}
    assert set(re.findall(r'"/page/([\w.]+)"', text)) == files
    for path in PAGE.iterdir():
        content = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|@import|eval\(|innerHTML", content), path.name
        assert path.suffix != ".js" or len(content.splitlines()) <= 300, path.name


def test_every_buffer_of_the_curve_is_told_and_the_digits_stay():
    scenario, told = forebay.Scenario.from_dict(QUICK), []
    answer = forebay.size(scenario, seeds=2, observe=told.append)
    same = forebay.size(scenario, seeds=2)
    assert [each.goals for each in answer.curve] == [each.goals for each in same.curve]
    last = {each.links["bottleneck"].buffer_packets: each for each in told}
    assert {each.packets: each.outcome for each in answer.curve} == last


def test_what_the_first_question_would_wait_for_is_done_before_it() -> None:
    """It failed in its thread, where nobody sees it: its only flow started after its run."""
    warm_up()


def test_no_answer_waits_for_a_delayed_ack():
    """asyncio turns off Nagle's algorithm where a socket is said to be TCP's, and only there."""
    with _listening("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
