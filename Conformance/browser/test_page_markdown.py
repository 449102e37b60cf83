"""Tests the Markdown of the page with the cases of the Swift SDK."""

import itertools
import json
import pathlib

import pytest

from support import chatmock

SERIAL = itertools.count()
VECTORS = pathlib.Path(__file__).resolve().parents[2] / "Tests" / "Vectors" / "markdown.json"


@pytest.fixture(scope="module")
def page(browser):
    with chatmock.running() as mock:
        context = browser.new_context()
        page = context.new_page()
        page.goto(mock.url + "/test.html")
        yield page
        context.close()


def test_markdown_gives_the_texts_and_entities_of_the_vectors(page):
    vectors = json.loads(VECTORS.read_text(encoding="utf-8"))
    parsed = page.evaluate("""async ({ cases, mentions }) => {
      const { parseMarkdown, toMarkdown } = await import("/js/text/markdown.js");
      const names = new Map(Object.entries(mentions));
      return cases.map(({ source }) => {
        const { text, entities } = parseMarkdown(source, { mentions: names });
        return { source, text, entities, markdown: toMarkdown(text, entities) };
      });
    }""", vectors)
    assert parsed == vectors["cases"]


COUNTED = """async ([address, source]) => {
  const { parseMarkdown, toMarkdown } = await import(address);
  const { text, entities } = parseMarkdown(source);
  toMarkdown(text, entities);
}"""
# Marks that no other mark closes, and other beginnings of ranges that do not end.
UNCLOSED = [
    "*a ", "**a ", "_a ", "__a ", "~~a ", "||a ", "*a **b _c __d ~~e ||f ", "*a\n\n", "*", "_", "[", "[a](", "[a]", "`\n", "```a\n", "> *a\n", "- *a\n", "h",
    "https://", "@a", ":a", "\\*",
]


def steps(page, source):
    """Returns the number of blocks of `markdown.js` that the browser executes for a source."""
    # The browser counts the blocks of code that it compiles during the measurement. A module with another address is compiled again.
    address = f"/js/text/markdown.js?{len(source)}-{next(SERIAL)}"
    session = page.context.new_cdp_session(page)
    session.send("Profiler.enable")
    session.send("Profiler.startPreciseCoverage", {"callCount": True, "detailed": True})
    page.evaluate(COUNTED, [address, source])
    scripts = session.send("Profiler.takePreciseCoverage")["result"]
    session.send("Profiler.stopPreciseCoverage")
    session.detach()
    functions = [function for script in scripts if script["url"].endswith(address) for function in script["functions"]]
    return sum(block["count"] for function in functions for block in function["ranges"])


@pytest.mark.parametrize("part", UNCLOSED)
def test_the_work_grows_as_the_text_does(page, part):
    few, many = (steps(page, (part * size)[:size]) for size in (500, 4000))
    # A sort takes a little more than eight times the steps; a search for each mark takes 64 times.
    assert 100 < few and many < 12 * few
