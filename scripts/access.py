"""Accessibility checks of page-test: the rules of axe-core, if it is installed, and the use of every
control with the keyboard alone.
"""

import json
import os
import pathlib
import shutil
import subprocess
import time

NARROW = (400, 800)
WEIGHTS = ["critical", "serious", "moderate"]
"""Impacts of violations that count as faults."""


def axe_core():
    """Return the file of axe-core: that of AXE, or npm's; None if it is not installed."""
    if wanted := os.environ.get("AXE"):
        return wanted if os.path.isfile(wanted) else None
    folders = [pathlib.Path(__file__).resolve().parent.parent / "node_modules"]
    folders += map(pathlib.Path, ["/usr/local/lib/node_modules", "/usr/lib/node_modules", "/usr/share/nodejs"])
    if npm := shutil.which("npm"):
        out = subprocess.run([npm, "root", "--global"], capture_output=True, text=True, check=False)
        folders += [pathlib.Path(out.stdout.strip())] if out.returncode == 0 else []
    files = [folder / "axe-core" / "axe.min.js" for folder in folders]
    return next((str(file) for file in files if file.is_file()), None)


RULES = """axe.run(document, { elementRef: false, resultTypes: ["violations"], rules: { "color-contrast": { enabled: %s } } })
  .then((r) => r.violations.map((v) => [v.impact, v.id, v.nodes.length, v.nodes[0].html.slice(0, 120)]))"""


def rules(page, axe):
    """Check the rules of axe-core: light and dark, folds closed and open, and on a narrow screen.
    page-test checks the contrast of opened folds, because axe-core takes minutes for it."""
    page.js(pathlib.Path(axe).read_text(encoding="utf-8") + "; 0")
    for name, scheme, size, opened in [
        ("light", "light", None, False), ("dark", "dark", None, False),
        ("opened", "light", None, True), ("400 pixels, opened", "dark", NARROW, True),
    ]:
        page.media("", scheme)
        if size:
            page.size(size)
        if opened:
            page.js("document.querySelectorAll('details').forEach(d => d.open = true)")
        for weight, rule, count, first in page.js(RULES % ("false" if opened else "true")):
            if weight in WEIGHTS:
                yield f"{name}: {weight}: {rule}, {count} times, first at {first}"
    page.media()


CONTROLS = """(() => {
  const all = "a[href], button, input, summary, [tabindex='0']";
  return window.controls = [...document.querySelectorAll(all)].filter((e) => e.checkVisibility({ visibilityProperty: true }));
})().length"""
FOCUSED = """(() => {
  const e = document.activeElement, at = window.controls.indexOf(e), s = getComputedStyle(e), r = e.getClientRects()[0];
  if (at < 0) return { at, what: e.tagName };
  const x = r.left + Math.min(r.width / 2, innerWidth / 2), y = r.top + Math.min(r.height / 2, 12);
  const over = document.elementFromPoint(x, y);
  return { at, what: e.tagName + " '" + (e.getAttribute("aria-label") ?? e.textContent).trim().slice(0, 40) + "'",
    ring: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 1,
    inside: r.bottom > 0 && r.top < innerHeight && r.right > 0 && r.left < innerWidth,
    over: over && !e.contains(over) && !over.contains(e) && !over.classList.contains("tip") ? over.tagName + "." + over.className : null };
})()"""


def check_tab_order(page, back):
    """Check that Tab reaches each control once, in view, with a visible focus ring. `back` starts at the
    end of the forward pass and uses Shift+Tab."""
    count = page.js(CONTROLS)
    key = "Shift+Tab" if back else "Tab"
    if not back:
        page.js("document.body.tabIndex = -1, document.body.focus(), document.body.removeAttribute('tabindex'), scrollTo(0, 0)")
    met = []
    while len(met) <= count + 1:
        page.key(key)
        at = page.js(FOCUSED)
        if at["at"] < 0 or at["at"] in met:
            break
        met.append(at["at"])
        if not at["ring"]:
            yield f"{key}: no visible focus ring on {at['what']}"
        if not at["inside"]:
            yield f"{key}: the focus is out of view: {at['what']}"
        elif at["over"]:
            yield f"{key}: {at['over']} covers {at['what']}"
    if missed := sorted(set(range(count)) - set(met)):
        what = page.js(f"window.controls[{missed[0]}].outerHTML.slice(0, 100)")
        yield f"{key} reaches {len(met)} of {count} controls, not {what}"


def until(page, text, what):
    """Yield a fault if a condition is not true within 5 seconds."""
    end = time.monotonic() + 5
    while not page.js(f"!!({text})"):
        if time.monotonic() > end:
            yield what
            return
        time.sleep(0.02)


def focus(page, what):
    """Focus the first visible element that matches; return whether there is one."""
    return page.js(f"(() => {{ const e = [...document.querySelectorAll({json.dumps(what)})].find((e) => e.checkVisibility()); e?.focus(); return !!e; }})()")


def check_folds(page):
    """Check that Enter and Space open and close a fold."""
    if not focus(page, "summary"):
        return
    for key, opened in [("Enter", True), ("Space", False), ("Space", True), ("Enter", False)]:
        page.key(key)
        yield from until(page, f"document.activeElement.parentElement.open === {json.dumps(opened)}", f"{key} does not toggle a fold")


def check_filter(page):
    """Check that the checkbox and the search hide workloads and show how many are left."""
    if not focus(page, ".filter input[type=checkbox]"):
        return
    shown = "[...document.querySelectorAll('details.workload')].filter(d => d.checkVisibility()).length"
    doubtful = "document.querySelectorAll('details.workload[data-verdict=other]').length"
    said = "document.querySelector('.filter [role=status]').textContent"
    page.key("Space")
    yield from until(page, f"{shown} === {doubtful}", "Space does not hide what is valid")
    page.key("Space")
    page.key("Tab")
    page("Input.insertText", text="no such word")
    yield from until(page, f"{shown} === 0 && {said}.startsWith('0 of')", "the search does not hide workloads without a match")
    link = page.js("document.querySelector('.answer h4 a')?.hash")
    if link:
        focus(page, ".answer h4 a")
        page.key("Enter")
        yield from until(page, f"document.querySelector({json.dumps(link)}).checkVisibility()", "a link does not show a target that the search hides")
    page.js("(() => { const s = document.querySelector('.filter [type=search]'); s.value = ''; s.dispatchEvent(new Event('input')); })()")
    yield from until(page, f"{said} === ''", "an empty search hides workloads")


def check_links(page):
    """Check that a link opens its target, also the second time, and that Tab continues there."""
    link = page.js("document.querySelector('.answer h4 a')?.hash")
    for _ in range(2 if link else 0):
        page.js(f"document.querySelector({json.dumps(link)}).open = false")
        focus(page, ".answer h4 a")
        page.key("Enter")
        yield from until(page, f"document.querySelector({json.dumps(link)}).open", "Enter on a link does not open its target")
        page.key("Tab")
        yield from until(page, f"document.activeElement.parentElement.id === {json.dumps(link[1:])}", "after a link, Tab does not continue at its target")


def check_copy_buttons(page):
    """Check that copy buttons copy, confirm it and keep the focus."""
    page.js("document.querySelectorAll('.pass-on').forEach(d => d.open = true)")
    for i, name in enumerate(page.js("[...document.querySelectorAll('[data-copy]')].map(b => b.dataset.copy)")):
        focus(page, f"[data-copy={name}]")
        page.key(["Enter", "Space"][i % 2])
        yield from until(page, "document.activeElement.textContent === 'Copied'", f"the button of {name} does not copy, or loses the focus")


SCROLLED = """(() => {
  const e = [...document.querySelectorAll(".scroll")].find((e) => {
    for (let p = e; p; p = p.parentElement) if (p.tagName === "DETAILS") p.open = true;
    return e.scrollWidth > e.clientWidth + 40; });
  e?.focus(); return !!e;
})()"""


def check_scrolling(page):
    """Check that arrow keys scroll a wide table and a long text."""
    page.size(NARROW)
    if page.js(SCROLLED):
        page.key("ArrowRight")
        yield from until(page, "document.activeElement.scrollLeft > 0", "ArrowRight does not scroll a wide table")
    if focus(page, ".pass-on pre.more"):
        page.key("ArrowDown")
        yield from until(page, "document.activeElement.scrollTop > 0", "ArrowDown does not scroll a long text")


def keys(page, _):
    """Check that every control can be reached and used with the keyboard."""
    for back in [False, True]:
        yield from check_tab_order(page, back)
    for use in [check_folds, check_filter, check_links, check_copy_buttons, check_scrolling]:
        yield from use(page)
    page.js("document.querySelectorAll('nav .top').forEach(d => d.open = true)")
    yield from check_tab_order(page, False)
