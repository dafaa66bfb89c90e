"""The page in a notebook's frame."""

import re
import subprocess
import sys
import urllib.request

import pytest

import forebay
from forebay.web.notebook import packed
from forebay.web.opening import question_of, scenario_of

pytest.importorskip("uvicorn", reason="the extra forebay[web] is not installed")

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
