"""The page in a browser, as a person would use it; skipped where there is none."""

import json
import re
import shutil
import time

import pytest

import forebay
from forebay.web.opening import scenario_of

from .serving import QUICK, ended, running, served

pytest.importorskip("starlette", reason="the extra forebay[web] is not installed")
api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no chromium on this machine")
SLOWEST_MS = 120_000
STRAY = {"kind": "udp", "flows": 2, "rate": "1 Mbit/s", "burst": 3}


@pytest.fixture(scope="module")
def browser():
    with api.sync_playwright() as player:
        opened = player.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield opened
        opened.close()


def opened(browser, address, **options):
    """Return a page that shows laws; errors in it fail the test that closes it."""
    page = browser.new_page(**{"viewport": {"width": 1400, "height": 1000}, **options})
    page.set_default_timeout(SLOWEST_MS)
    page.wrong = []
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("console", lambda said: said.type == "error" and page.wrong.append(said.text))
    page.goto(address)
    page.locator("#laws tbody tr").first.wait_for()
    return page


@pytest.fixture
def page(browser, server):
    made = opened(browser, f"http://{server}/")
    yield made
    made.close()
    # 422 is how a mistake of the form is answered, and browsers say so.
    assert [each for each in made.wrong if "422" not in each] == []


def linked(server, question):
    """Return the address of a page with a question."""
    from forebay.web.notebook import packed

    return f"http://{server}/#q={packed(question)}"


def ask_quick(page, server, question=QUICK):
    """Ask a question that is answered in about a second."""
    page.goto(linked(server, question))
    done(page)


def done(page):
    page.get_by_test_id("status").get_by_text("done", exact=True).wait_for()


def test_a_first_answer_has_a_size_a_reason_and_a_curve(page, server):
    ask_quick(page, server)
    best = int(page.get_by_test_id("answer-packets").inner_text())
    assert best >= int(page.get_by_test_id("least-packets").inner_text())
    assert "Recommended: " in page.locator("#headline").inner_text()
    assert page.locator("#charts .curve.fine").count() == 3
    assert page.locator("#charts .meets").count() == 3
    row = page.locator("#price tr", has_text="recommended").inner_text().split("\t")
    assert row[1] == str(best) and row[2].endswith(" %") and row[5].endswith(" ms")


def test_an_answer_by_smaller_links_has_a_curve_and_values_at_its_size(page):
    answer = forebay.size(scenario_of(QUICK), seeds=2, max_seeds=2)
    one = {"value": 1.0, "low": 1.0, "high": 1.0, "n": 1}
    link = {"factor": 9.0, "rate_bps": 1e6, "flows": 3, "window_packets": 9.0, "packets": one}
    scaled = {"factor": 9.0, "error": one, "links": [link], "exponent": one, "flows_share": 1.0}
    text = json.dumps(answer.to_dict() | {"scaled": scaled})
    file = {"name": "x.json", "mimeType": "", "buffer": text.encode()}
    page.locator("#file").set_input_files(file)
    done(page)
    page.locator("#charts .curve.fine").nth(2).wait_for()
    page.get_by_role("button", name="Pin this scenario").click()
    assert page.locator("#beside td").get_by_text("–").count() == 0


def test_a_guess_looks_like_a_guess(page):
    page.get_by_test_id("answer-packets").get_by_text("≈").wait_for()
    assert "guess" in page.locator("#answer").get_attribute("class")
    assert page.locator("#answer-label").inner_text() == "First guess"
    assert page.get_by_test_id("answer-packets").inner_text().startswith("≈")


def test_an_error_stands_beside_its_field_and_goes_again(page):
    page.get_by_test_id("link-rate").fill("155")
    error = page.get_by_test_id("field-error")
    error.wait_for()
    assert "155 Mbit/s" in error.inner_text()
    assert page.get_by_test_id("link-rate").get_attribute("aria-invalid") == "true"
    assert page.locator(".status").inner_text() == "idle · there is something to correct"
    page.get_by_test_id("link-rate").fill("155 Mbit/s")
    error.wait_for(state="detached")


@pytest.mark.long
@pytest.mark.parametrize(
    ("changed", "said", "headline"),
    [
        ({"traffic": [STRAY]}, ".*traffic.0.burst: there is no such key.*", ""),
        ({"goals": {}}, "no goal is ticked, so every buffer is large enough; tick one",
         "Without a goal"),
    ],
)  # fmt: skip
def test_a_mistake_that_has_no_field_in_the_form_is_named(page, server, changed, said, headline):
    page.goto(linked(server, {**QUICK, **changed}))
    error = page.get_by_test_id("field-error")
    error.wait_for()
    assert re.fullmatch(said, error.inner_text())
    assert page.locator("#headline").inner_text().startswith(headline)


@pytest.mark.long
def test_a_replay_of_what_is_recommended_of_an_aqm_has_its_target(page, server):
    queue = {"size": "500 packets", "discipline": "fq_codel"}
    ask_quick(page, server, {**QUICK, "queue": queue})
    page.locator("#replay-buffer").select_option("best")
    with page.expect_request(lambda request: "/replay" in request.url) as asked:
        page.locator("#replay").click()
    sent = asked.value.post_data_json["queue"]
    assert "packets=" not in asked.value.url and sent["target"].endswith(" s")
    page.locator("#replayed").wait_for()
    page.locator("#replay-buffer").select_option("least")
    page.locator("#replay").click()
    assert "The target is sized here" in page.locator("#replay-note").inner_text()


@pytest.mark.long
def test_a_link_restores_the_whole_question(page, server):
    page.get_by_test_id("flows").fill("77")
    page.get_by_test_id("goal-utilization").fill("95 %")
    page.get_by_label("At most", exact=True).select_option("3 min")
    link = page.get_by_test_id("share-link").evaluate("link => link.href")
    page.goto("about:blank")
    page.goto(link)
    page.locator("#laws tbody tr").first.wait_for()
    assert page.get_by_test_id("flows").input_value() == "77"
    assert page.get_by_test_id("goal-utilization").input_value() == "95 %"
    assert page.get_by_label("At most", exact=True).input_value() == "3 min"


@pytest.mark.long
def test_laws_follow_a_slider_and_no_run_is_left_behind(page, server):
    slider = page.get_by_label("Slider of the rate")
    before = page.locator("#laws tbody").inner_text()
    for place in range(70, 90):
        slider.fill(str(place / 10))
    page.wait_for_function(
        "was => document.querySelector('#laws tbody').innerText !== was", arg=before
    )
    assert page.get_by_test_id("link-rate").input_value() == "794 Mbit/s"
    page.goto("about:blank")
    until = time.monotonic() + 20
    while running(server) and time.monotonic() < until:
        time.sleep(0.1)
    assert running(server) == 0


@pytest.mark.long
def test_a_replay_is_scrubbed(page, server):
    ask_quick(page, server)
    page.get_by_label("One replication with").select_option(label="the recommended buffer")
    page.get_by_role("button", name="Replay").click()
    slider, now = page.get_by_label("Time", exact=True), page.locator("#now")
    slider.wait_for()
    end = float(now.inner_text().split()[0])
    slider.fill(str(int(slider.get_attribute("max")) // 2))
    page.wait_for_function(
        f"() => parseFloat(document.querySelector('#now').innerText) < {0.8 * end}"
    )
    assert page.locator("#timeline svg").count() == 3
    assert page.locator("#timeline .normal").count() == 1
    assert "from the normal one" in page.locator("#replay-note").inner_text()


@pytest.mark.long
def test_two_pins_stand_beside_each_other(page, server):
    ask_quick(page, server)
    page.get_by_role("button", name="Pin this scenario").click()
    page.get_by_label("Mostly").select_option("bbr")
    done(page)
    page.get_by_role("button", name="Pin this scenario").click()
    row = page.locator("#beside tr", has_text="congestion_control")
    assert row.locator("mark").all_inner_texts()[-1] == "bbr"
    assert page.locator("#beside .curve.other").count() == 3
    page.get_by_role("button", name="Clear").click()
    assert page.locator("#beside table").count() == 0


def downloaded(page, name):
    with page.expect_download() as waiting:
        page.get_by_role("button", name=name).click()
    return waiting.value.path().read_bytes()


@pytest.mark.long
def test_everything_leaves_the_page(page, server):
    ask_quick(page, server)
    assert b'rate = "10 Mbit/s"' in downloaded(page, "Scenario file (TOML)")
    answer = json.loads(downloaded(page, "Answer (JSON)"))
    assert answer["recommended"]["packets"] == int(
        page.get_by_test_id("answer-packets").inner_text()
    )
    assert b"<svg" in downloaded(page, "Picture (SVG)")
    assert downloaded(page, "Picture (PNG)")[:4] == b"\x89PNG"
    assert b"<!doctype html>" in downloaded(page, "Report (HTML)").lower()
    page.get_by_label("Configuration for").select_option("linux-tc")
    page.get_by_role("button", name="Show").click()
    page.get_by_text("tc qdisc replace").wait_for()


@pytest.mark.long
def test_what_comes_late_is_not_shown_of_another_question(page, server):
    held = []
    for path in ("configuration", "shipped", "open"):
        page.route(f"**/{path}", lambda route: held.append(route))
    ask_quick(page, server)
    page.get_by_role("button", name="Show").click()
    page.get_by_test_id("flows").fill("5")
    page.locator("#preset").select_option(label="oc3-gsr")
    page.locator("#file").set_input_files({"name": "x.toml", "mimeType": "", "buffer": b"x = ["})
    page.wait_for_function("() => document.querySelector('#opened').textContent")
    page.locator("#preset").select_option("1")
    rate = page.get_by_test_id("link-rate").input_value()
    page.wait_for_function("() => !document.querySelector('#configure').disabled")
    assert len(held) == 3
    for each in held:
        with page.expect_response(each.request.url):
            each.continue_()
    page.wait_for_timeout(200)
    assert page.locator("#configuration").is_hidden()
    assert page.get_by_test_id("link-rate").input_value() == rate
    assert "x.toml" not in page.get_by_test_id("status").inner_text()
    assert not page.locator("#opened").inner_text()


@pytest.mark.long
def test_a_report_of_a_server_that_is_gone_is_said(page, server):
    ask_quick(page, server)
    page.route("**/report", lambda route: route.abort())
    page.get_by_role("button", name="Report (HTML)").click()
    page.get_by_text("the server does not answer").wait_for()
    page.wrong = [each for each in page.wrong if "ERR_FAILED" not in each]


@pytest.mark.long
def test_a_scenario_file_is_dropped(page):
    text = '[link]\nrate = "2 Mbit/s"\n[[traffic]]\nflows = 4\nrtt = "50 ms"\n'
    text += "[goals]\nutilization = 0.5\n"
    page.evaluate(
        """text => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([text], "x.toml"));
            document.dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
        }""",
        text,
    )
    page.wait_for_function("() => document.querySelector('#link-rate').value === '2 Mbit/s'")
    page.locator("#file").set_input_files({"name": "x.toml", "mimeType": "", "buffer": b"x = ["})
    page.get_by_test_id("field-error").get_by_text("no TOML").wait_for()


def test_a_link_is_followed_while_the_page_writes_its_own_address(page, server):
    page.evaluate(
        """address => {
            const own = location.href;
            location.href = address;
            history.replaceState(null, "", own);
        }""",
        linked(server, QUICK),
    )
    page.wait_for_function("() => document.querySelector('#link-rate').value === '10 Mbit/s'")


def test_the_keyboard_alone_is_enough(page, server):
    page.goto(linked(server, QUICK))
    page.wait_for_function("() => document.querySelector('#link-rate').value === '10 Mbit/s'")
    page.get_by_test_id("link-rate").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert page.get_by_test_id("link-rate").input_value() == "10.2 Mbit/s"
    done(page)
    page.locator("#charts").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "() => document.querySelector('#readout').innerText.includes('packets: ')"
    )
    page.get_by_role("button", name="Pin this scenario").focus()
    page.keyboard.press("Enter")
    assert page.locator("#beside table").count() == 1


@pytest.mark.long
def test_a_narrow_page_does_not_scroll_sideways(browser, server):
    page = opened(browser, linked(server, QUICK), viewport={"width": 400, "height": 900})
    done(page)
    page.get_by_role("button", name="Replay").click()
    page.locator("#timeline svg").first.wait_for()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 400
    page.close()


@pytest.mark.long
def test_two_tabs_ask_without_each_other(browser, server):
    first, second = (opened(browser, linked(server, QUICK)) for _ in range(2))
    done(first)
    done(second)
    same = [each.get_by_test_id("answer-packets").inner_text() for each in (first, second)]
    assert same[0] == same[1]
    first.close()
    second.close()


@pytest.mark.long
def test_a_server_that_comes_back_answers_the_open_page(browser):
    process, place = served()
    page = opened(browser, linked(place, QUICK))
    done(page)
    ended(process)
    page.get_by_test_id("flows").fill("11")
    page.get_by_text("start forebay serve again").wait_for()
    process, _ = served("--port", place.split(":")[1])
    page.get_by_test_id("flows").fill("12")
    done(page)
    assert page.get_by_test_id("answer-packets").inner_text().isdigit()
    page.close()
    ended(process)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_axe_finds_no_serious_violation(browser, server, scheme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="there is no axe-core"
    )
    page = opened(browser, linked(server, QUICK), color_scheme=scheme)
    done(page)
    page.get_by_role("button", name="Replay").click()
    page.locator("#timeline svg").first.wait_for()
    page.get_by_role("button", name="Pin this scenario").click()
    found = axe.Axe().run(page).response["violations"]
    serious = [each for each in found if each["impact"] in ("serious", "critical")]
    assert serious == [], [(each["id"], each["nodes"][0]["html"]) for each in serious]
    page.close()


@pytest.mark.long
def test_ten_gigabit_transit_is_sized_in_twelve_inputs(page):
    """10G transit, 20 to 180 ms, mostly CUBIC, some BBR, 80 % load."""
    inputs = [
        lambda: page.get_by_label("Start from").select_option(label="10G transit"),
        lambda: page.get_by_label("Round trip", exact=True).fill("20 ms to 180 ms"),
        lambda: page.get_by_label("Mostly").select_option(label="cubic"),
        lambda: page.get_by_label("And some").select_option(label="bbr"),
        lambda: page.get_by_label("Load", exact=True).fill("80 %"),
    ]
    for each in inputs:
        each()
    assert len(inputs) <= 12
    done(page)
    assert page.get_by_test_id("answer-packets").inner_text().isdigit()
    said = page.locator("#sentences").inner_text()
    assert re.search(r"By simulation.* (times smaller|of \d)", said)


@pytest.mark.long
def test_a_window_is_set_and_left_to_the_search_again(page, server):
    ask_quick(page, server)
    page.get_by_label("Window", exact=True).fill("11 s")
    page.get_by_label("Warm-up").fill("x")
    page.get_by_test_id("field-error").wait_for()
    page.get_by_label("Warm-up").fill("")
    page.get_by_label("Window", exact=True).fill("")
    page.get_by_test_id("field-error").wait_for(state="detached")
    assert b"measure" not in downloaded(page, "Scenario file (TOML)")
