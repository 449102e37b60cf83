"""The views of the page in `Web/` with the sample state, without a server.

Environment: APUS_SCREENSHOTS names a folder for pictures of the screens.
"""

import pytest

from support.page import WEB
from support.samplepage import DESKTOP, PHONE, eventually, open_chat, picture, serving, visiting


@pytest.fixture(scope="module")
def address():
    with serving(WEB) as address:
        yield address


@pytest.fixture()
def visit(browser, address):
    with visiting(browser, address) as open_page:
        yield open_page


def test_the_list_has_the_focus_after_the_start_and_arrow_keys_open_a_chat(visit):
    page = visit()
    eventually(page, "document.activeElement.matches('.chat-list .row')")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator("#message").wait_for()
    eventually(page, "document.activeElement.id === 'message'")
    assert page.locator(".peer h2").inner_text() == page.locator(".row[aria-current=true] .title").inner_text()
    page.keyboard.press("Escape")
    eventually(page, "document.activeElement.matches('.chat-list .row')")
    picture(page, "list")


def test_a_chat_opens_at_its_first_unread_message_with_a_count(visit):
    page = visit()
    open_chat(page, "Design review")
    line = page.locator(".unread-line")
    line.wait_for()
    box = line.bounding_box()
    assert 60 < box["y"] < 500
    assert page.locator(".jump").is_visible()
    assert int(page.locator(".jump .badge").inner_text()) > 0
    picture(page, "unread")


def test_a_long_log_keeps_few_elements(visit):
    page = visit()
    open_chat(page, "Rowing club Kiel")
    for _ in range(40):
        page.evaluate("document.querySelector('.log').scrollTop = 600")
        page.wait_for_timeout(20)
    assert page.locator(".log .item").count() < 80
    assert page.evaluate("document.querySelectorAll('*').length") < 2500


def test_a_jump_to_a_message_does_not_end_the_mark_of_the_next_one(visit):
    page = visit()
    open_chat(page, "Rowing club Kiel")
    assert page.evaluate("""async () => {
      const { thread } = chatApp.view;
      const { setTimeout, clearTimeout } = globalThis;
      const marks = new Map(); // the timers that end a mark
      globalThis.setTimeout = (run, delay, ...rest) => {
        const timer = setTimeout(delay === 1800 ? () => {} : run, delay, ...rest);
        if (delay === 1800) marks.set(timer, run);
        return timer;
      };
      globalThis.clearTimeout = (timer) => { marks.delete(timer); clearTimeout(timer); };
      try {
        const [first, second] = thread.rows.filter(({ n }) => n).slice(-2);
        await thread.jumpTo(first.seq);
        const [[, end]] = marks;
        await thread.jumpTo(second.seq);
        if (marks.size > 1) end();
        thread.list.layout();
        return [...document.querySelectorAll(".item.hit")].map(({ dataset }) => dataset.key === second.key);
      } finally {
        Object.assign(globalThis, { setTimeout, clearTimeout });
      }
    }""") == [True]


def test_written_text_is_formatted_and_never_markup(visit):
    page = visit()
    open_chat(page, "Carol Okafor")
    page.fill("#message", "**bold** `<img src=x onerror=alert(1)>` [x](javascript:alert(1)) https://example.org :tada:")
    page.keyboard.press("Enter")
    bubble = page.locator(".item .bubble", has_text="bold").last
    bubble.wait_for()
    assert bubble.locator("strong").inner_text() == "bold"
    assert bubble.locator("code").inner_text() == "<img src=x onerror=alert(1)>"
    assert bubble.locator("a").evaluate_all("links => links.map((link) => link.href)") == ["https://example.org/"]
    assert "🎉" in bubble.inner_text()
    assert page.locator("#message").input_value() == ""


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_nothing_is_wider_than_the_screen(visit, size):
    page = visit(size=size)
    open_chat(page, "Bob Marsh")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("[...document.querySelectorAll('.bubble')].every((bubble) => bubble.getBoundingClientRect().right <= innerWidth)")


def test_chinese_is_complete(visit):
    page = visit(language="zh")
    page.locator(".chat-list .row").first.wait_for()
    missing = page.evaluate("""async () => {
      const { en } = await import("./js/i18n/en.js");
      const { zh } = await import("./js/i18n/zh.js");
      return Object.keys(en).filter((key) => !(key in zh)).concat(Object.keys(zh).filter((key) => !(key in en)));
    }""")
    assert missing == []
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    page.get_by_role("button", name="全部").wait_for()
    # A space is added only beside a name of another script.
    texts = page.evaluate("""async () => {
      const { t } = await import("./js/i18n/index.js");
      return [t("eventPin", { name: "你" }), t("eventAdd", { name: "Bob", users: "王小雨" }), t("eventAdd", { name: "王小雨", users: "Bob" }), t("pollVotes", { n: 3 })];
    }""")
    assert texts == ["你置顶了一条消息", "Bob 添加了王小雨", "王小雨添加了 Bob", "3 票"]


def test_a_form_takes_the_focus_before_the_next_frame(visit):
    """The form takes the focus immediately, so that the focus does not move while the user types."""
    page = visit("signedOut")
    page.locator("#auth-form").wait_for()
    assert page.evaluate("""async () => {
      const { AuthView } = await import("./js/views/auth.js");
      const view = new AuthView(chatApp);
      document.querySelector("#auth-form").closest("main").replaceWith(view.element);
      await null;
      return [document.activeElement === view.form.elements.name, view.close()];
    }""")[0]
