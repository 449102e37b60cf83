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
      const { parseMarkdown } = await import("/js/text/markdown.js");
      const { toMarkdown } = await import("/js/text/source.js");
      const names = new Map(Object.entries(mentions));
      return cases.map(({ source }) => {
        const { text, entities } = parseMarkdown(source, { mentions: names });
        return { source, text, entities, markdown: toMarkdown(text, entities) };
      });
    }""", vectors)
    assert parsed == vectors["cases"]


def test_an_edit_without_a_change_keeps_the_text_and_what_markdown_can_express(page):
    vectors = json.loads(VECTORS.read_text(encoding="utf-8"))
    edited = page.evaluate("""async ({ edits, mentions }) => {
      const { parseMarkdown } = await import("/js/text/markdown.js");
      const { toMarkdown } = await import("/js/text/source.js");
      const names = new Map(Object.entries(mentions));
      return edits.map(({ text, entities }) => {
        const markdown = toMarkdown(text, entities);
        const { text: trimmed, entities: kept } = parseMarkdown(markdown, { mentions: names });
        return { text, entities, markdown, ...(trimmed !== text && { trimmed }), kept };
      });
    }""", vectors)
    assert edited == vectors["edits"]


# Texts of other applications: marks without a format, and random entities. Returns the faults and the number of kept entities.
RANDOM_EDITS = """async ([seed, count, parts]) => {
  const { parseMarkdown } = await import("/js/text/markdown.js");
  const { toMarkdown } = await import("/js/text/source.js");
  const kinds = ["bold", "italic", "underline", "strike", "spoiler", "code", "pre", "link", "quote", "list", "mention", "all", "hashtag"];
  const random = (limit) => {
    seed = (seed + 0x6D2B79F5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
  const one = (list) => list[random(list.length)];
  const faults = [];
  let kept = 0;
  for (let round = 0; round < count; round += 1) {
    const text = Array.from({ length: 1 + random(9) }, () => one(parts)).join("");
    const scalars = [...text];
    const slice = ({ offset, length }) => scalars.slice(offset, offset + length).join("");
    const entities = Array.from({ length: random(5) }, () => {
      const offset = random(scalars.length);
      const entity = { type: one(kinds), offset, length: 1 + random(scalars.length - offset) };
      if (entity.type === "link") entity.url = one(["https://a.example", "https://a.example/x_(y)", "mailto:a@b.c"]);
      if (entity.type === "mention") entity.user = one(["bob", "wang"]);
      if (entity.type === "pre" && random(2)) entity.language = "js";
      return entity;
    });
    const mentions = new Map(entities.filter(({ type }) => type === "mention").map((each) => [slice(each).slice(1).toLowerCase(), each.user]));
    const markdown = toMarkdown(text, entities);
    const parsed = parseMarkdown(markdown, { mentions });
    const isSame = parsed.text === text.replace(/\\r\\n?/g, "\\n").trim();
    // Each character of a kept entity had its format; a line break between two blocks is a part of the joined one.
    const isOriginal = parsed.text !== text || parsed.entities.every((found) => (found.type === "link" && found.url === slice(found))
      || scalars.every((scalar, at) => at < found.offset || at >= found.offset + found.length
        || (scalar === "\\n" && ["quote", "list"].includes(found.type))
        || entities.some(({ type, offset, length, url, user, language }) => type === found.type && url === found.url && user === found.user && language === found.language && offset <= at && at < offset + length)));
    if (!isSame || !isOriginal) faults.push({ text, entities, markdown, parsed });
    kept += parsed.entities.length;
  }
  return { faults: faults.slice(0, 5), kept };
}"""
PARTS = [
    "a", "b", " ", "\n", "*", "**", "_", "__", "~~", "||", "`", "```", "\n- ", "- ", "• ", "\n• ", "\n1. ", "12) ", "> ", "\n> ", ">", "# ", "[", "]", "(x)",
    "](https://a.example)", "https://a.example/x_y", "http://", "@bob", "@all", "@王", "@", ":wave:", ":", "：爱心：", "：", ":no_pe:heart:", "\\", "\\- ", "\\@",
    "é", "👍🏽", "鸟", "\r\n", "\t", "snake_case", "2*3*4", "<", ".", "!", '"',
]


def test_an_edit_without_a_change_never_changes_a_random_text(page):
    result = page.evaluate(RANDOM_EDITS, [20261129, 8_000, PARTS])
    assert result["faults"] == []
    assert result["kept"] > 2_000


COUNTED = """async ([serial, source]) => {
  const { parseMarkdown } = await import(`/js/text/markdown.js?${serial}`);
  const { toMarkdown } = await import(`/js/text/source.js?${serial}`);
  const { text, entities } = parseMarkdown(source);
  toMarkdown(text, entities);
}"""
# Marks that no other mark closes, and other beginnings of ranges that do not end.
UNCLOSED = [
    "*a ", "**a ", "_a ", "__a ", "~~a ", "||a ", "*a **b _c __d ~~e ||f ", "*a\n\n", "*", "_", "[", "[a](", "[a]", "`\n", "```a\n", "> *a\n", "- *a\n", "h",
    "https://", "@a", ":a", "\\*",
]


def steps(page, source):
    """Returns the number of blocks of `markdown.js` and `source.js` that the browser executes for a source and its edit."""
    # The browser counts the blocks of code that it compiles during the measurement. A module with another address is compiled again.
    serial = f"{len(source)}-{next(SERIAL)}"
    session = page.context.new_cdp_session(page)
    session.send("Profiler.enable")
    session.send("Profiler.startPreciseCoverage", {"callCount": True, "detailed": True})
    page.evaluate(COUNTED, [serial, source])
    scripts = session.send("Profiler.takePreciseCoverage")["result"]
    session.send("Profiler.stopPreciseCoverage")
    session.detach()
    functions = [function for script in scripts if script["url"].endswith(f".js?{serial}") for function in script["functions"]]
    return sum(block["count"] for function in functions for block in function["ranges"])


@pytest.mark.parametrize("part", UNCLOSED)
def test_the_work_grows_as_the_text_does(page, part):
    few, many = (steps(page, (part * size)[:size]) for size in (500, 4000))
    # A sort takes a little more than eight times the steps; a search for each mark takes 64 times.
    assert 100 < few and many < 12 * few
