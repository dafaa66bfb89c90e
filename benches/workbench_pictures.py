"""Pictures of the workbench for docs/images, with Debian's chromium: `make screenshots`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SLOWEST_MS = 180_000


def main() -> None:
    """Serve the page, and take its pictures."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        sys.exit("there is no chromium on this machine: apt-get install chromium")
    command = [sys.executable, "-c", "from forebay.cli import main; main()", "serve", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = server.stdout.readline().split()[-1]
    try:
        with sync_playwright() as player:
            opened = player.chromium.launch(executable_path=browser, args=["--no-sandbox"])
            wide(opened, address)
            narrow(opened, address)
    finally:
        server.terminate()
        server.wait(timeout=10)


def wide(browser: Browser, address: str) -> None:
    """The answer, then replay and two pins, in the dark."""
    page = answered(browser, address, 1400, 1000, "light")
    page.screenshot(path=IMAGES / "workbench.png")
    page.close()
    page = answered(browser, address, 1400, 1000, "dark")
    page.get_by_role("button", name="Replay").click()
    page.locator("#timeline svg").first.wait_for()
    page.get_by_label("Time", exact=True).fill("300")
    page.get_by_role("button", name="Pin this scenario").click()
    page.get_by_label("Mostly").select_option("bbr")
    done(page)
    page.get_by_role("button", name="Pin this scenario").click()
    page.locator("#replay-title").evaluate("title => title.closest('section').scrollIntoView()")
    page.wait_for_timeout(300)
    page.screenshot(path=IMAGES / "workbench-replay.png")
    page.close()


def narrow(browser: Browser, address: str) -> None:
    """As on a telephone."""
    page = answered(browser, address, 400, 900, "light")
    page.screenshot(path=IMAGES / "workbench-narrow.png")
    page.close()


def answered(browser: Browser, address: str, width: int, height: int, scheme: str) -> Page:
    """Return a page with the answer for the papers' line card."""
    size = {"width": width, "height": height}
    page: Page = browser.new_page(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    page.set_default_timeout(SLOWEST_MS)
    page.goto(address)
    done(page)
    return page


def done(page: Page) -> None:
    """Wait for the answer."""
    page.get_by_test_id("status").get_by_text("done", exact=True).wait_for()
    page.wait_for_timeout(200)


if __name__ == "__main__":
    main()
