"""The page in a headless browser: run, see the curve, make a mistake, see the message at its line, press stop. `CHROMIUM` names the browser."""

import os
import sys
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

PAGE = Path(__file__).parents[1] / "target/web/index.html"


def main():
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=os.environ.get("CHROMIUM"), args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": 1400, "height": 900})
        page = context.new_page()
        asked, broken = [], []
        page.on("request", lambda r: asked.append(r.url))
        page.on("pageerror", lambda e: broken.append(str(e)))
        page.goto(PAGE.absolute().as_uri())
        page.wait_for_selector("body[data-ready]", timeout=60_000)
        expect(page.locator("#message")).to_contain_text("by gvi", timeout=60_000)

        # The first example, with another law.
        view = page.frame_locator("#view")
        page.click("#run")
        view.locator("svg.plot").first.wait_for(timeout=120_000)
        view.locator(".scene canvas").first.wait_for(timeout=10_000)
        assert view.locator("svg.plot path, svg.plot polyline").count() > 0, "no curve"
        page.select_option("#law", "lcp")
        page.wait_for_selector("body[data-runs='2']", state="attached", timeout=120_000)
        assert 'law    = "lcp"' in page.input_value("#text")
        if len(sys.argv) > 1:
            page.wait_for_timeout(1500)
            page.screenshot(path=sys.argv[1])

        # A file of one's own.
        ball = """title = "Ball"
[system]
coordinates = ["y"]
mass        = [1]
potential   = "9.81*y"
inequality  = { floor = "y" }
[start]
q = [1]
[[run]]
name = "mine"
step = 0.01
end  = 3.0
"""
        page.fill("#text", ball)
        expect(page.locator("#message")).to_contain_text("mine by svci", timeout=30_000)
        page.keyboard.press("Control+Enter")
        view.locator("h1", has_text="Ball").wait_for(timeout=60_000)

        # A mistake is said at its line, as one types.
        page.fill("#text", ball.replace("potential", "potental"))
        page.wait_for_selector("body[data-line='5']", state="attached", timeout=10_000)
        said = page.inner_text("#message")
        assert "line 5" in said and "did you mean `potential`" in said, said
        assert page.locator("#lines .wrong").inner_text() == "5"
        if len(sys.argv) > 2:
            page.screenshot(path=sys.argv[2])

        # A run that takes for ever is stopped, shows what it computed, and the page goes on.
        page.fill("#text", ball.replace("3.0", "1e7").replace('"Ball"', '"For ever"'))
        expect(page.locator("#message")).to_contain_text("mine by svci", timeout=30_000)
        page.click("#run")
        expect(page.locator("#message")).to_contain_text("%", timeout=60_000)
        page.click("#stop")
        page.wait_for_selector("body[data-ready]:not([data-busy])", state="attached", timeout=60_000)
        expect(page.locator("#message")).to_contain_text("what was computed up to there is shown", timeout=10_000)
        view.locator("h1", has_text="For ever").wait_for(timeout=60_000)
        page.fill("#text", ball.replace('"Ball"', '"Again"'))
        expect(page.locator("#message")).to_contain_text("mine by svci", timeout=30_000)
        page.click("#run")
        view.locator("h1", has_text="Again").wait_for(timeout=60_000)

        # Every example is right and runs.
        for k in range(page.locator("#examples option").count()):
            page.select_option("#examples", str(k))
            expect(page.locator("#message")).to_contain_text(" by ", timeout=20_000)
            before = int(page.get_attribute("body", "data-runs"))
            page.click("#run")
            page.wait_for_selector(f"body[data-runs='{before + 1}']", state="attached", timeout=120_000)
            said = page.inner_text("#message")
            assert page.get_attribute("#message", "class") != "wrong", said
        outside = [url for url in asked if not url.startswith(("file:", "blob:", "data:", "about:"))]
        assert not outside, outside
        assert not broken, broken
        browser.close()
    print("the page runs, shows curves and films, names mistakes at their lines, and stops")


main()
