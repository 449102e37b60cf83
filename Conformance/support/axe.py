"""The rules of axe for the accessibility of a page."""

import functools

import pytest

# Elements that fade in have other colors until their animation ends.
STILL = "Promise.allSettled(document.getAnimations().filter((each) => each.effect.getComputedTiming().endTime < 1000).map((each) => each.finished))"
RUN = """() => axe.run({ resultTypes: ["violations"], rules: { region: { enabled: false } } })
  .then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html.slice(0, 160))]))"""


@functools.cache
def script():
    return pytest.importorskip("axe_playwright_python.base").AXE_SCRIPT


def violations(page):
    """Returns the violations of the rules, as [rule, [HTML]], once the short animations of the document have ended. A document keeps axe,
    whose script is longer than that of the page."""
    source = script()
    if page.evaluate(f"{STILL}.then(() => !globalThis.axe)"):
        page.evaluate(source)
    return page.evaluate(RUN)
