"""How fast the page is, in Debian's chromium: ready, laws after a slider moves, curve, answer.

    .venv/bin/python benches/workbench_speed.py

Prints JSON; the exit status is 1 if one of LIMITS is not kept. They are for two processors that
nobody else uses; `load` says how busy the machine was.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

LIMITS = {
    "ready_s": 1.0, "laws_median_ms": 50.0, "longest_task_ms": 50.0, "left": 0,
    "first_curve_s": 0.5, "complete_s": 3.0,
}  # fmt: skip
_DRAG = """async () => {
  const tasks = [0], waits = [], slider = document.getElementById("rate-slider");
  new PerformanceObserver((seen) => seen.getEntries().forEach((each) => tasks.push(each.duration)))
    .observe({ type: "longtask" });
  let since = 0, inputs = 0, place = 7;
  new MutationObserver(() => { if (since) waits.push(performance.now() - since); since = 0; })
    .observe(document.querySelector("#laws tbody"), { childList: true });
  for (const end = performance.now() + 5000; performance.now() < end; inputs++) {
    place = place > 8.2 ? 7 : place + 0.02;
    slider.value = place;
    since ||= performance.now();
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  waits.sort((a, b) => a - b);
  return { inputs, laws: waits.length, laws_median_ms: waits[waits.length >> 1],
    longest_task_ms: Math.max(...tasks) };
}"""


@contextmanager
def served(*arguments: str) -> Iterator[str]:
    """Serve the page; give its address."""
    code = "from forebay.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", "--port", "0", *arguments]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield server.stdout.readline().split()[-1]
    finally:
        server.terminate()
        server.wait(timeout=10)


def opened(browser: Browser, address: str) -> tuple[Page, float]:
    """Return a page that shows laws, and the seconds until then."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    since = time.monotonic()
    page.goto(address)
    page.locator("#laws tbody tr").first.wait_for()
    return page, time.monotonic() - since


def dragged(browser: Browser) -> dict[str, float]:
    """Return what a drag of 5 s with one thread shows, and the runs half a second later."""
    with served("--jobs", "1") as address:
        opened(browser, address)[0].close()  # the browser and the server are warm
        page, ready_s = opened(browser, address)
        page.wait_for_timeout(1000)
        found = page.evaluate(_DRAG)
        page.close()
        time.sleep(0.5)
        with urllib.request.urlopen(f"{address}start") as answer:
            left = json.load(answer)["running"]
    return {"ready_s": ready_s, "left": left, **found}


def answered(browser: Browser) -> dict[str, float]:
    """Return the seconds until the line card's first curve and its answer."""
    with served() as address:
        page, _ = opened(browser, address)
        page.wait_for_timeout(1000)
        page.get_by_test_id("flows").fill("101")
        page.get_by_test_id("flows").fill("100")
        since = time.monotonic()
        page.wait_for_timeout(140)  # until the older curve is forgotten; then it is wiped out
        page.evaluate("() => document.getElementById('charts').replaceChildren()")
        page.wait_for_function("() => document.querySelectorAll('#charts .dotp').length >= 24")
        curve_s = time.monotonic() - since
        page.get_by_test_id("status").get_by_text("done", exact=True).wait_for(timeout=180_000)
        complete_s = time.monotonic() - since
        page.close()
    return {"first_curve_s": curve_s, "complete_s": complete_s}


def main() -> int:
    """Measure, and judge."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        sys.exit("there is no chromium on this machine: apt-get install chromium")
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=program, args=["--no-sandbox"])
        found = {"load": os.getloadavg()[0], **dragged(browser), **answered(browser)}
        browser.close()
    print(json.dumps({name: round(value, 2) for name, value in found.items()}))
    return int(any(found[name] > limit for name, limit in LIMITS.items()))


if __name__ == "__main__":
    sys.exit(main())
