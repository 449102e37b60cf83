"""Notifications of the page with the program: rules, sound, title, and the subscription to Web Push."""

import contextlib
import uuid

import pytest

from support.chatpages import open_pair
from support.samplepage import eventually

# The calls are recorded: a headless browser has neither a desktop nor a push service.
PAGE = """() => {
  globalThis.sounds = 0;
  const start = OscillatorNode.prototype.start;
  OscillatorNode.prototype.start = function (at) { globalThis.sounds += 0.5; return start.call(this, at); };
  if (globalThis.PushManager) {
    let subscription = null;
    PushManager.prototype.getSubscription = async () => subscription;
    PushManager.prototype.subscribe = async (options) => (subscription = {
      options: { ...options, applicationServerKey: options.applicationServerKey.buffer },
      toJSON: () => ({ endpoint: "https://push.example.org/1", expirationTime: null, keys: { p256dh: "B" + "A".repeat(86), auth: "A".repeat(22) } }),
      unsubscribe: async () => { subscription = null; return true; },
    });
  }
}"""
WORKER = """() => {
  self.shown = [];
  self.registration.showNotification = async (title, { body, tag }) => void self.shown.push([title, body, tag]);
}"""


@pytest.fixture()
def notified(browser, chat):
    """The page of Alice with the permission for notifications, and the worker that shows them."""
    with contextlib.closing(browser.new_context(locale="en-GB")) as context:
        context.grant_permissions(["notifications"], origin=chat.url)
        context.add_init_script(f"({PAGE})()")
        page = context.new_page()
        page.set_default_timeout(15_000)
        with context.expect_event("serviceworker") as started:
            page.goto(chat.url)
        page.fill("[name=name]", "alice")
        page.fill("[name=password]", "apus-demo")
        page.keyboard.press("Enter")
        page.locator(".chat-list .row").first.wait_for()
        worker = started.value
        page.evaluate("() => navigator.serviceWorker.ready.then(() => null)")
        worker.evaluate(WORKER)
        yield page, worker


def say(chat, user, conv, text, **more):
    return chat.do(user, "send", id=str(uuid.uuid4()), conv=conv, kind="text", body={"text": text, **more})


def shown(page, worker, count):
    for _ in range(200):
        found = worker.evaluate("() => self.shown")
        if len(found) >= count:
            return found
        page.wait_for_timeout(25)
    return worker.evaluate("() => self.shown")


def test_what_is_notified_follows_the_rules(notified, chat):
    page, worker = notified
    pair = chat.pair("alice", "bob")
    group = chat.do("alice", "conversation.create", id=str(uuid.uuid4()), kind="group", title="Crew", users=["bob", "carol"])["head"]["conv"]
    open_pair(page, pair)
    say(chat, "bob", pair, "on the screen")
    page.locator(".bubble", has_text="on the screen").wait_for()
    say(chat, "bob", group, "elsewhere")
    assert shown(page, worker, 1) == [["Crew", "Bob Marsh: elsewhere", group]]  # no notification for the open chat
    for _ in range(100):
        if page.evaluate("sounds") == 1:
            break
        page.wait_for_timeout(20)
    assert page.evaluate("sounds") == 1
    assert page.title().startswith("(1)")
    chat.do("alice", "own.set", id="mute", conv=group, muted_until=9_000_000_000_000)
    page.locator(".chat-list .row .icon-bellOff").wait_for()
    say(chat, "bob", group, "muted")
    page.locator(".chat-list .row", has_text="muted").wait_for()
    chat.do("alice", "own.set", id="unmute", conv=group, muted_until=0)
    page.locator(".chat-list .row .icon-bellOff").wait_for(state="detached")
    page.evaluate("() => { chatApp.setPreference('sound', false); chatApp.setPreference('preview', false); }")
    say(chat, "carol", group, "secret")
    assert shown(page, worker, 2)[1:] == [["Crew", "New message", group]]
    quiet = page.evaluate("""async () => {
      const minute = new Date().getUTCHours() * 60 + new Date().getUTCMinutes();
      await chatApp.state.setSettings({ quiet_from: minute, quiet_until: (minute + 60) % 1440 });
      return chatApp.state.settings.quiet_from;
    }""")
    assert quiet >= 0
    say(chat, "carol", group, "at night")
    page.locator(".chat-list .row", has_text="at night").wait_for()
    page.evaluate("() => chatApp.state.setSettings({ quiet_from: 0, quiet_until: 0 })")
    say(chat, "carol", group, "in the morning")
    assert len(shown(page, worker, 3)) == 3
    assert page.evaluate("sounds") == 1


NOTIFICATIONS = """(tags) => {
  self.left = tags.map((tag) => ({ tag, close: () => { self.left = self.left.filter((each) => each.tag !== tag); } }));
  self.registration.getNotifications = async ({ tag } = {}) => self.left.filter((each) => !tag || each.tag === tag);
}"""


def test_what_was_read_on_another_device_is_no_longer_notified(notified, chat):
    page, worker = notified
    group = chat.do("bob", "conversation.create", id=str(uuid.uuid4()), kind="group", title="News", users=["alice"])["head"]["conv"]
    convs = [chat.pair("alice", "bob"), chat.pair("alice", "carol"), group]
    texts = {conv: say(chat, name, conv, "news") for conv, name in zip(convs, ("bob", "carol", "bob"))}

    def left(expected):
        for _ in range(400):
            if worker.evaluate("() => self.left.map(({ tag }) => tag)") == expected:
                return
            page.wait_for_timeout(25)
        raise AssertionError(worker.evaluate("() => self.left.map(({ tag }) => tag)"))

    def read(conv):
        chat.do("alice", "mark", conv=conv, read=texts[conv]["n"])

    eventually(page, f"{convs}.every((conv) => chatApp.state.conversation(conv)?.unread > 0)")
    worker.evaluate(NOTIFICATIONS, convs)
    read(convs[0])
    left(convs[1:])
    # While the page is closed, a push says that nothing else is unread.
    page.goto("about:blank")
    read(convs[1])
    message = {"conv": convs[2], "kind": "text", "sender": "bob", "title": "News", "body": "news"}
    worker.evaluate(PUSH, {**message, "badge": 2})
    left(convs[1:])
    worker.evaluate(PUSH, {**message, "badge": 1})
    left(convs[2:])
    # The page is opened after the last conversation was read, too.
    read(convs[2])
    page.goto(chat.url)
    left([])


PUSH = """(message) => { self.dispatchEvent(new PushEvent("push", { data: JSON.stringify(message) })); }"""


def test_a_push_has_the_language_the_alias_and_the_preference_of_the_page(notified, chat):
    page, worker = notified
    conv = chat.pair("alice", "bob")
    message = {"conv": conv, "kind": "image", "sender": "bob", "title": "Bob Marsh", "body": "Photo", "no_text": True, "badge": 1}
    in_group = {**message, "conv": "3g7r0p5a2b4c6", "title": "Crew", "body": "Bob Marsh: Photo", "nick": "Bob Marsh"}
    text = {**in_group, "kind": "text", "body": "Bob Marsh: to the lake: now", "no_text": False}

    def pushed(*messages):
        worker.evaluate("() => { self.shown = []; }")
        for each in messages:
            worker.evaluate(PUSH, each)
        return [[title, body] for title, body, _ in sorted(shown(page, worker, len(messages)))]

    def told(condition):
        """Waits until the worker has kept the words of the page."""
        for _ in range(400):
            if worker.evaluate(f"() => keptWords().then(({{ texts = {{}}, aliases = {{}}, preview }}) => {condition})"):
                return
            page.wait_for_timeout(25)
        raise AssertionError(condition)

    told("texts.image === 'Picture'")
    assert pushed(message) == [["Bob Marsh", "Picture"]]
    request = {"conv": conv, "kind": "join_request", "title": "Crew", "no_text": True, "badge": 1}
    one = {**request, "sender": "bob", "nick": "Bob Marsh", "body": "Bob Marsh: Request to join", "count": 1}
    assert pushed(one) == [["Crew", "Bob Marsh: Request to join"]]
    assert pushed({**request, "body": "", "count": 3}) == [["Crew", "3 requests to join"]]
    assert pushed(text) == [["Crew", "Bob Marsh: to the lake: now"]]
    chat.do("alice", "contact.alias", id="alias", user="bob", alias="Captain")
    told("aliases.bob === 'Captain'")
    assert pushed(message) == [["Captain", "Picture"]]
    assert pushed(text) == [["Crew", "Captain: to the lake: now"]]
    page.evaluate("chatApp.setPreference('language', 'zh')")
    told("texts.image === '图片'")
    assert pushed(in_group) == [["Crew", "Captain：图片"]]
    page.evaluate("chatApp.setPreference('preview', false)")
    told("preview === false")
    assert pushed(text) == [["Crew", "新消息"]]
    # A sign-out leaves nothing.
    page.evaluate("navigator.serviceWorker.ready.then(({ active }) => active.postMessage({ type: 'signedOut' }))")
    told("Object.keys(texts).length === 0")
    chat.do("alice", "contact.alias", id="no-alias", user="bob", alias="")


def test_a_browser_subscribes_to_push_and_leaves_it(notified, chat):
    page, _ = notified
    page.evaluate("""() => {
      globalThis.told = [];
      const { state } = chatApp;
      state.setPush = async (kind, data) => void told.push([kind, data?.endpoint]);
      state.session = { ...state.session, push_key: "BNNL5ZaTfK81qhXOx23-wewhigUeFb632jN6LvRWCFH1ubQr77FE_9qV1FuojuRmHP42zmf34rXgW80OvUVDgTk" };
      chatApp.view.settings("notifications");
    }""")
    page.get_by_role("switch", name="Also while the page is closed").check()
    assert page.evaluate("told") == [["web", "https://push.example.org/1"]]
    assert page.evaluate("chatApp.preferences.push") is True
    page.get_by_role("switch", name="Also while the page is closed").uncheck()
    for _ in range(100):
        if len(page.evaluate("told")) == 2:
            break
        page.wait_for_timeout(20)
    assert page.evaluate("told.at(-1)[0]") == "none"
    assert page.evaluate("navigator.serviceWorker.ready.then((each) => each.pushManager.getSubscription())") is None


def test_a_refused_permission_is_explained(person):
    page = person("carol")
    page.evaluate("""() => {
      Notification.requestPermission = async () => "denied";
      Object.defineProperty(Notification, "permission", { value: "default" });
      chatApp.view.settings("notifications");
    }""")
    page.get_by_role("switch", name="Desktop notifications").click()
    page.locator(".toast", has_text="This browser blocks notifications of this page.").wait_for()
    assert not page.get_by_role("switch", name="Desktop notifications").is_checked()
