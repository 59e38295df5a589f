#!/usr/bin/env python3
"""Opens pages of --report in Chromium and looks at each tab.

    pip install playwright; apt-get install chromium-headless-shell
    tests/oracle/report_in_chromium.py --pictures FOLDER PAGE.html...

Fails if a script of a page fails, if a page asks for anything but itself, if a tab is wider than the
window, if the graph of a page is not drawn within 2 s (on a machine that does nothing else), or if
a page cannot lay out a graph that its library once failed on.
"""
import argparse
import pathlib
import shutil
import sys
import time

from playwright.sync_api import sync_playwright

WINDOWS = {
    "light": ({"width": 1400, "height": 860}, "light"),
    "dark": ({"width": 1400, "height": 860}, "dark"),
    "phone": ({"width": 390, "height": 800}, "light"),
    "phone_dark": ({"width": 390, "height": 800}, "dark"),
}
TOO_WIDE = """Math.max(document.documentElement.scrollWidth - innerWidth,
  ...[...document.querySelectorAll('main > section:not([hidden])')].map(s => s.scrollWidth - s.clientWidth))"""
# Two chains in frames within frames that cross, one of which ends where the other goes on.
LAYOUT = """(() => {
  const node = (v, parent) => ({v, parent, width: 10, height: 10});
  const edge = (v, w) => ({v, w, minlen: 1, weight: 1, width: 0, height: 0});
  const nodes = [node("outer"), node("frame", "outer"), node("inner", "frame"),
    ...["a1", "a2", "a3", "a4"].map(v => node(v, "frame")),
    ...["b1", "b2", "b3", "b4"].map(v => node(v, "inner")), node("b5", "frame"),
    node("a5", "outer"), node("a6", "outer")];
  const edges = [["a1", "a2"], ["a2", "a3"], ["a3", "a4"], ["b1", "b2"], ["b2", "b3"], ["b3", "b4"],
    ["b4", "b5"], ["a4", "a5"], ["a5", "a6"]].map(([v, w]) => edge(v, w));
  dagre.layout(nodes, edges, {nodesep: 18, ranksep: 22, ranker: "network-simplex"}, {});
  return nodes.every(n => Number.isFinite(n.x) && Number.isFinite(n.y));
})()"""


def look_at(browser, path, window, folder):
    """Returns what is wrong with a page in a window."""
    size, scheme = WINDOWS[window]
    context = browser.new_context(viewport=size, color_scheme=scheme)
    page = context.new_page()
    wrong, requests = [], []
    page.on("console", lambda m: wrong.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda e: wrong.append(str(e)))
    page.on("request", lambda r: requests.append(r.url))
    start = time.monotonic()
    page.goto(path.resolve().as_uri())
    page.wait_for_selector(".note")
    if time.monotonic() - start > 2:
        wrong.append(f"drawn after {time.monotonic() - start:.1f} s")
    tabs = page.eval_on_selector_all("#tabs button", "all => all.map(e => e.textContent)")
    for i, tab in enumerate(tabs):
        page.click(f"#tabs button:nth-child({i + 1})")
        page.wait_for_timeout(100)
        if page.evaluate(TOO_WIDE) > 0:
            wrong.append(f"{tab} is wider than the window")
        if folder:
            page.screenshot(path=folder / f"{path.stem}_{window}_{tab}.png")
    page.click("#tabs button:nth-child(1)")
    name = page.evaluate("document.querySelector('.box:not(.folded) .op')?.textContent ?? ''")
    if name:
        page.fill(".search input", name)
        page.keyboard.press("Enter")
        page.wait_for_timeout(100)
        if page.evaluate("document.querySelector('.detail .close') === null"):
            wrong.append(f"a search for {name} shows no node")
    try:
        if not page.evaluate(LAYOUT):
            wrong.append("a small graph has no layout")
    except Exception as error:  # of the page's script
        wrong.append(f"a small graph has no layout: {error}")
    if len(requests) != 1:
        wrong.append(f"asks for {requests[1:]}")
    context.close()
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--browser", default=shutil.which("chromium-headless-shell") or shutil.which("chromium"))
    args = parser.parse_args()
    if args.pictures:
        args.pictures.mkdir(parents=True, exist_ok=True)
    failed = False
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=args.browser, args=["--no-sandbox"])
        for path in args.pages:
            for window in WINDOWS:
                wrong = look_at(browser, path, window, args.pictures)
                failed |= bool(wrong)
                print(f"{path} {window}:", "; ".join(wrong) or "ok")
        browser.close()
    sys.exit(failed)


if __name__ == "__main__":
    main()
