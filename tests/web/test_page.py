"""The page in a browser, as a person would use it; skipped where there is none."""

import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

pytest.importorskip("starlette", reason="the extra forebay[web] is not installed")
api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no chromium on this machine")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    code = "from forebay.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    yield process.stdout.readline().split()[-1]
    process.terminate()
    process.communicate(timeout=10)


@pytest.fixture
def page(address):
    with api.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 400, "height": 900})
        wrong = []
        opened.on("pageerror", lambda error: wrong.append(str(error)))
        opened.goto(address)
        opened.locator("#laws tbody tr").first.wait_for()
        yield opened
        browser.close()
        assert not wrong


def test_a_home_line_gets_a_recommended_size_by_labels(page):
    page.get_by_label("Start from").select_option(label="Home line")
    page.get_by_label("Rate", exact=True).fill("10 Mbit/s")
    page.get_by_test_id("status").get_by_text("done").wait_for(timeout=90_000)
    assert int(page.get_by_test_id("answer-packets").inner_text()) >= int(
        page.get_by_test_id("least-packets").inner_text()
    )


def test_an_error_stands_beside_its_field_and_goes_again(page):
    page.get_by_test_id("link-rate").fill("155")
    error = page.get_by_test_id("field-error")
    error.wait_for()
    assert "155 Mbit/s" in error.inner_text()
    page.get_by_test_id("link-rate").fill("155 Mbit/s")
    error.wait_for(state="detached")


def test_a_link_restores_the_whole_question(page):
    page.get_by_test_id("flows").fill("77")
    page.get_by_test_id("goal-utilization").fill("95 %")
    link = page.get_by_test_id("share-link").evaluate("link => link.href")
    page.goto("about:blank")
    page.goto(link)
    page.locator("#laws tbody tr").first.wait_for()
    assert page.get_by_test_id("flows").input_value() == "77"
    assert page.get_by_test_id("goal-utilization").input_value() == "95 %"


def test_a_narrow_page_does_not_scroll_sideways(page):
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 400
