"""Tests the search for users in the page at / in headless Chromium with a real server."""

from concurrent.futures import ThreadPoolExecutor

import pytest


def found(page):
    return page.locator(".person").evaluate_all("rows => rows.map((row) => row.dataset.user)")


@pytest.mark.parametrize("options", [{}, {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "locale": "zh-CN"}])
def test_users_are_found_by_any_part_of_their_names(person, register, screenshot, options):
    for name, display in (("zhangwei", "张伟"), ("jfisher", "Jane Mary Fisher"), ("fisherman", "Noah")):
        register(name, display)
    alice = person(**options)
    page = alice.sign_in("alice")
    page.click("#new-chat")
    page.wait_for_selector(".person[data-user=zhangwei]")
    for query, names in [
        ("张", ["zhangwei"]), ("伟", ["zhangwei"]), ("FISHER", ["fisherman", "jfisher"]), ("mary", ["jfisher"]), ("ｍａｒｙ　ｊａｎｅ", ["jfisher"]),
        ("@fish", ["fisherman", "jfisher"]), ("@noah", []), ("@alice", []),
    ]:
        page.fill("#find-people", query)
        page.wait_for_function("(names) => JSON.stringify([...document.querySelectorAll('.person')].map((row) => row.dataset.user)) === JSON.stringify(names)", arg=names)
    page.wait_for_selector(".nobody")
    assert page.locator("#more-people").count() == 0
    page.fill("#find-people", "fisher")
    page.click(".person[data-user=jfisher]")
    alice.is_open("Jane Mary Fisher")
    if options:
        page.click("#back")
    page.fill("#search", "@JF")
    assert page.locator("#chats .chat").count() == 1


@pytest.mark.parametrize("options", [{}, {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "locale": "zh-CN"}])
def test_a_long_list_of_users_shows_that_there_are_more(person, register, screenshot, options):
    names = sorted(f"crowd{number}" for number in range(53))
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda name: register(name, name.title()), names))
    alice = person(**options)
    page = alice.sign_in("alice")
    page.click("#new-group")
    page.fill("#find-people", "crowd")
    page.wait_for_function("() => document.querySelectorAll('.person').length === 50 && document.querySelector('.person').dataset.user === 'crowd0'")
    page.click(".person[data-user=crowd1]")
    more = page.locator("#more-people")
    assert more.inner_text() == ("显示更多" if options else "Show more people")
    more.scroll_into_view_if_needed()
    screenshot(page, f"more-people-{'phone' if options else 'desktop'}")
    more.click()
    page.wait_for_function("() => document.querySelectorAll('.person').length === 53")
    assert found(page) == names and more.count() == 0
    assert page.locator(".person.picked").count() == 1
    page.click(".person[data-user=crowd9]")
    page.fill("input[name=title]", "Two of many")
    page.click("dialog footer .primary")
    page.wait_for_selector("#message")
