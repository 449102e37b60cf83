"""Tests the Markdown of the page with the cases of the Swift SDK."""

import json
import pathlib

import pytest

from support import chatmock

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
