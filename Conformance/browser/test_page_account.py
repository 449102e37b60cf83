"""The account, the settings and the installation of the page in `Web/`, with the chat server."""

import contextlib
import subprocess
import zipfile

import pytest

from support.authenticator import code_of
from support.chathost import PASSWORD, ChatHost
from support.livepage import button, people, toast
from support.process import BINARY
from support.samplepage import PHONE, eventually

INSECURE = """
  Object.defineProperty(globalThis, "isSecureContext", { value: false });
  for (const name of ["locks", "serviceWorker", "clipboard"]) Object.defineProperty(Navigator.prototype, name, { value: undefined });
  delete globalThis.Notification;
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = ChatHost(tmp_path_factory.mktemp("account"), options=("--limits", "off"))
    yield host
    host.stop()


@pytest.fixture()
def person(browser, host):
    with people(browser, host) as sign_in:
        yield sign_in


@pytest.fixture()
def visitor(browser):
    contexts = []

    def open_page(url):
        contexts.append(browser.new_context(locale="en-GB"))
        page = contexts[-1].new_page()
        page.set_default_timeout(15_000)
        page.goto(url + "/")
        page.locator("#auth-form").wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()


class Closed(ChatHost):
    """A server on which registration needs an invitation or is closed."""

    def register(self, name, nick, **more):
        pass

    def befriend(self, one, other):
        pass

    def invite(self):
        output = subprocess.run([BINARY, "admin", "--data", self.folder, "invite"], capture_output=True, text=True, check=True).stdout
        return output.split()[-1] if "\n" not in output.strip() else output.strip().splitlines()[0].split()[-1]


def settings(page, name):
    page.evaluate(f"document.querySelector('dialog')?.close(); chatApp.view.settings('{name}')")
    page.locator("dialog[open] .settings .page h2").wait_for()


def test_no_account_is_offered_where_the_server_creates_none(visitor, tmp_path):
    host = Closed(tmp_path, options=("--registration", "closed"))
    try:
        page = visitor(host.url)
        page.get_by_text("Accounts are created by the operator of this server.").wait_for()
        assert button(page, "Create an account").count() == 0
        assert button(page, "Forgot your password?").is_visible()
    finally:
        host.stop()


def test_an_invitation_is_asked_for_where_the_server_needs_one(visitor, tmp_path):
    host = Closed(tmp_path, options=("--registration", "invitation"))
    try:
        page = visitor(host.url)
        button(page, "Create an account").click()
        page.fill("[name=name]", "ida")
        page.fill("[name=password]", PASSWORD)
        page.get_by_label("Invitation code").fill("wrong-code")
        button(page, "Create account").click()
        page.get_by_text("The invitation code is wrong or was used up.").wait_for()
        page.get_by_label("Invitation code").fill(host.invite())
        button(page, "Create account").click()
        page.locator("dialog .codes").wait_for()
    finally:
        host.stop()


def test_the_forms_say_what_is_wrong(visitor, host):
    page = visitor(host.url)

    def submit(action, text, **values):
        for name, value in values.items():
            page.fill(f"[name={name}]", value)
        button(page, action).click()
        page.locator(".form-error", has_text=text).wait_for()

    submit("Sign in", "The user name or the password is wrong.", name="alice", password="not this one")
    button(page, "Create an account").click()
    submit("Create account", "This user name is taken.", name="alice", password=PASSWORD)
    submit("Create account", "This user name is not possible.", name="two words")
    submit("Create account", "At least 8 characters.", name="jonas", password="short")
    button(page, "I have an account").click()
    button(page, "Forgot your password?").click()
    submit("Reset password", "The user name or the recovery code is wrong.", name="alice", recovery="aaaa-bbbb", password=PASSWORD)
    assert page.evaluate("document.activeElement.name") == "recovery"
    submit("Reset password", "At least 8 characters.", password="short")
    assert page.evaluate("document.activeElement.name") == "password"


def test_a_core_that_was_not_loaded_is_loaded_by_the_next_sign_in(browser, host):
    """The network fails while the page is loading: neither the worker nor the core in its place is loaded."""
    with contextlib.closing(browser.new_context(locale="en-GB", service_workers="block")) as context:
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.route("**/core-*.js", lambda route: route.abort())
        page.goto(host.url + "/")
        page.fill("[name=name]", "alice")
        page.fill("[name=password]", PASSWORD)
        button(page, "Sign in").click()
        page.locator(".form-error", has_text="There is no connection to the server.").wait_for()
        page.unroute("**/core-*.js")
        button(page, "Sign in").click()
        page.locator(".chat-list .row").first.wait_for()


def test_new_recovery_codes_are_kept_before_they_are_gone(visitor, host):
    page = visitor(host.url)
    button(page, "Create an account").click()
    page.fill("[name=name]", "Yuki")
    page.fill("[name=password]", PASSWORD)
    button(page, "Create account").click()
    dialog = page.locator("dialog", has_text="Recovery codes")
    dialog.wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.mouse.click(5, 5)
    with page.expect_download() as download:
        button(page, "Download").click()
    assert download.value.suggested_filename == "apus-yuki.txt"
    assert download.value.path().read_text().split() == dialog.locator(".codes").inner_text().split()
    # A toast is a part of the modal dialog, and is not lost with it.
    page.evaluate("import('/js/views/toast.js').then(({ toast }) => { toast('one'); toast('two', { seconds: null }); })")
    page.locator("dialog .toast", has_text="one").wait_for()
    button(page, "I have kept them").click()
    dialog.wait_for(state="detached")
    eventually(page, "document.activeElement.classList.contains('row')")
    page.locator("body > .toasts .toast", has_text="two").get_by_role("button", name="Close").click()


def test_a_visitor_with_an_invite_link_joins_after_the_registration(visitor, host):
    conv = host.do("alice", "conversation.create", id="guests", kind="group", title="Guests", users=[])["head"]["conv"]
    code = host.do("alice", "link.create", conv=conv)["link"]["code"]
    page = visitor(host.url)
    page.goto(f"{host.url}/join#{code}")
    page.get_by_text("You have an invitation.").wait_for()
    button(page, "Create an account").click()
    page.fill("[name=name]", "zora")
    page.fill("[name=password]", PASSWORD)
    button(page, "Create account").click()
    page.locator("dialog", has_text="Recovery codes").wait_for()
    assert page.locator("dialog").count() == 1
    button(page, "I have kept them").click()
    button(page, "Join").click()
    page.locator(".peer h2", has_text="Guests").wait_for()
    # The chat of a banned member is closed with a reason.
    host.do("alice", "member.ban", id="out", conv=conv, users=["zora"])
    toast(page, "You are no longer in “Guests”.")
    page.locator(".thread-pane", has_text="Choose a chat").wait_for()


def test_other_sessions_are_listed_and_ended(person, host):
    host.register("kim", "Kim Lake")
    here, there = person("kim"), person("kim", PHONE)
    settings(here, "sessions")
    here.locator(".settings .option-row").nth(2).wait_for()
    button(here, "Sign out: Test").click()
    toast(here, "Test was signed out")
    eventually(here, "document.querySelectorAll('.settings .option-row').length === 2")
    button(here, "Sign out everywhere else").click()
    button(here, "Sign out everywhere else").last.click()
    there.locator("#auth-form").wait_for()
    there.get_by_text("This session has ended. Please sign in again.").wait_for()
    here.get_by_text("You are signed in on this device only.").wait_for()


def test_a_new_sign_in_is_told_on_the_other_sessions(person, host):
    carol = person("carol", PHONE)
    host.post("/api/login", {"name": "carol", "password": PASSWORD, "device": {"name": "Firefox on a lost phone", "platform": "web"}})
    toast(carol, "A new sign-in to your account: Firefox on a lost phone")
    button(carol, "Sessions").click()
    carol.locator("dialog .settings", has_text="Firefox on a lost phone").wait_for()


def test_the_own_data_is_saved_as_a_file(person, host):
    host.do("alice", "send", conv=host.pair("alice", "bob"), kind="text", body={"text": "to be exported"})
    alice = person("alice")
    settings(alice, "account")
    with alice.expect_download() as download:
        button(alice, "Export my data").click()
    assert download.value.suggested_filename == "alice.zip"
    with zipfile.ZipFile(download.value.path()) as archive:
        assert archive.testzip() is None
        assert any(b"to be exported" in archive.read(name) for name in archive.namelist())
    eventually(alice, "!document.querySelector('dialog .button:has(.icon-download)').disabled")


def test_quiet_hours_are_kept_in_minutes_of_utc_and_shown_in_local_time(person, host):
    alice = person("alice", script="Date.prototype.getTimezoneOffset = () => -480;")  # eight hours before UTC
    settings(alice, "notifications")
    alice.get_by_role("switch", name="Quiet hours").check()
    alice.get_by_label("From").fill("23:30")
    eventually(alice, "chatApp.state.settings.quiet_from === 930")
    alice.get_by_label("Until").fill("06:15")
    eventually(alice, "chatApp.state.settings.quiet_until === 1335")
    kept = host.ask("alice", "settings", {})["settings"]
    assert (kept["quiet_from"], kept["quiet_until"]) == (930, 1335)
    # Equal hours, which would end the quiet hours, are marked and not sent.
    alice.get_by_label("Until").fill("23:30")
    assert [alice.get_by_label(name).get_attribute("aria-invalid") for name in ("From", "Until")] == ["true", "true"]
    alice.get_by_label("Until").fill("06:15")
    assert [alice.get_by_label(name).get_attribute("aria-invalid") for name in ("From", "Until")] == ["false", "false"]
    assert host.ask("alice", "settings", {})["settings"]["quiet_from"] == 930
    alice.keyboard.press("Escape")
    alice.locator("dialog").wait_for(state="detached")
    settings(alice, "notifications")
    assert [alice.get_by_label(name).input_value() for name in ("From", "Until")] == ["23:30", "06:15"]
    alice.get_by_role("switch", name="Quiet hours").uncheck()
    eventually(alice, "document.querySelector('dialog input[type=time]').offsetParent === null")
    kept = host.ask("alice", "settings", {})["settings"]
    assert kept.get("quiet_from") == kept.get("quiet_until")


def test_a_folder_with_a_filter_fills_itself(person, host):
    pair = host.pair("carol", "alice")
    host.do("alice", "send", conv=pair, kind="text", body={"text": "not read yet"})
    group = host.do("carol", "conversation.create", kind="group", title="Empty group", users=["alice"])["head"]["conv"]
    carol = person("carol")
    settings(carol, "folders")
    carol.get_by_label("Name of the folder").fill("To do")
    carol.locator("dialog .page select").select_option("unread")
    button(carol, "New folder").click()
    carol.locator("dialog .option-row", has_text="To do").wait_for()
    carol.keyboard.press("Escape")
    button(carol, "To do").click()
    carol.locator(f".chat-list .row[data-conv='{group}']").wait_for(state="detached")
    carol.locator(f".chat-list .row[data-conv='{pair}']").click()
    button(carol, "To do").click()
    carol.locator(f".chat-list .row[data-conv='{pair}']").wait_for(state="detached")
    host.do("alice", "send", conv=group, kind="text", body={"text": "in the group"})
    carol.locator(f".chat-list .row[data-conv='{group}']").wait_for()


def test_a_password_is_changed_and_a_wrong_one_is_told(person, host):
    host.register("lena", "Lena Moss")
    page = person("lena")
    settings(page, "security")
    current, fresh = page.get_by_label("Current password").first, page.get_by_label("New password")
    current.fill("wrong")
    fresh.fill("short")
    button(page, "Change password").click()
    page.locator(".form-error", has_text="At least 8 characters.").wait_for()
    fresh.fill("battery staple")
    button(page, "Change password").click()
    page.locator(".form-error", has_text="The password is wrong.").wait_for()
    current.fill(PASSWORD)
    button(page, "Change password").click()
    toast(page, "The password was changed.")
    assert host.post("/api/login", {"name": "lena", "password": "battery staple", "device": {"name": "T", "platform": "t"}})["access"]
    page.reload()
    page.locator(".chat-list .row").first.wait_for()


def test_an_account_is_deleted_with_its_password(person, host):
    host.register("mara", "Mara Reed")
    page = person("mara")
    settings(page, "account")
    page.get_by_label("Password").fill("wrong one")
    button(page, "Delete the account").click()
    button(page, "Delete the account").last.click()
    page.locator(".form-error", has_text="The password is wrong.").wait_for()
    page.get_by_label("Password").fill(PASSWORD)
    button(page, "Delete the account").click()
    button(page, "Delete the account").last.click()
    page.locator("#auth-form").wait_for()
    page.locator(".toast", has_text="Your account was deleted.").wait_for()
    assert host.ask("alice", "people", {"query": "mara"})["users"] == []


def test_a_profile_changed_on_another_device_is_shown(person, host):
    host.register("nils", "Nils Oak")
    page = person("nils")
    host.do("nils", "profile.set", nick="Nils the Oak")
    eventually(page, "chatApp.state.account.nick === 'Nils the Oak'")


def test_the_page_can_be_installed(browser, host):
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(host.url + "/")
        page.locator("#auth-form").wait_for()
        page.evaluate("navigator.serviceWorker.ready.then(() => null)")
        devtools = context.new_cdp_session(page)
        manifest = devtools.send("Page.getAppManifest")
        assert manifest["url"].endswith("app.webmanifest") and manifest["errors"] == []
        # The browser contexts of the tests are in incognito mode, in which a page cannot be installed.
        errors = [error["errorId"] for error in devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]]
        assert [error for error in errors if error != "in-incognito"] == []
        sizes = page.evaluate("""async () => {
          const { icons } = await (await fetch("/app.webmanifest")).json();
          return Promise.all(icons.map(async ({ src, sizes, purpose }) => {
            const image = Object.assign(new Image(), { src });
            await image.decode();
            return [sizes, purpose, sizes === "any" || `${image.naturalWidth}x${image.naturalHeight}` === sizes];
          }));
        }""")
        assert all(fits for _, _, fits in sizes)
        assert {(size, purpose) for size, purpose, _ in sizes} >= {("192x192", "any"), ("512x512", "any"), ("512x512", "maskable")}
    finally:
        context.close()


def test_without_https_the_page_works_and_says_what_is_missing(person, host):
    host.register("olga", "Olga Pine")
    host.register("paul", "Paul Quay")
    host.befriend("olga", "paul")
    olga, paul = person("olga", script=INSECURE), person("paul", script=INSECURE)
    assert olga.evaluate("chatApp.state.port.constructor.name") == "PagePort"
    second = olga.context.new_page()
    second.goto(host.url + "/")
    second.locator(".chat-list .row").first.wait_for()
    conv = host.do("olga", "conversation.open", user="paul")["head"]["conv"]
    host.do("olga", "send", conv=conv, kind="text", body={"text": "first"})
    for page in (olga, second, paul):
        page.locator(f".chat-list .row[data-conv='{conv}']").wait_for()
        page.evaluate(f"chatApp.view.openConversation('{conv}')")
    paul.fill("#message", "to both tabs")
    paul.keyboard.press("Enter")
    for page in (olga, second):
        page.locator(".item .bubble", has_text="to both tabs").wait_for()
    settings(olga, "notifications")
    olga.locator(".settings .notice-line", has_text="without HTTPS").wait_for()
    assert olga.get_by_label("Desktop notifications").is_disabled()
    settings(olga, "account")
    olga.locator(".settings .notice-line", has_text="no microphone").last.wait_for()


def test_a_copy_without_a_clipboard_shows_the_text(person, host):
    conv = host.do("alice", "conversation.create", kind="group", title="No clipboard")["head"]["conv"]
    link = host.do("alice", "link.create", conv=conv)["link"]["code"]
    alice = person("alice", script=INSECURE)
    alice.evaluate(f"chatApp.view.openConversation('{conv}'); chatApp.view.toggleDetails(true)")
    button(alice, "Copy link").click()
    eventually(alice, f"document.querySelector('dialog input')?.value === '{host.url}/join#{link}'")
    alice.keyboard.press("Escape")
    alice.evaluate("chatApp.view.showRecovery({ recovery: ['one-two', 'three-four'] })")
    button(alice, "Copy").click()
    eventually(alice, "document.querySelector('dialog textarea')?.value === 'one-two\\nthree-four'")


def test_a_sign_in_needs_the_code_of_the_authenticator_and_a_recovery_code_resets_the_password(person, visitor, host):
    host.register("quinn", "Quinn Hill")
    page = person("quinn")
    settings(page, "security")
    form = page.locator("form", has=page.get_by_text("Two-step sign-in"))
    button(page, "Set up an authenticator").wait_for()
    assert not button(page, "Remove the authenticator").is_visible()
    form.get_by_label("Current password").fill(PASSWORD)
    button(page, "Set up an authenticator").click()
    page.locator("svg.qrcode").wait_for()
    secret = page.locator(".codes").inner_text().replace(" ", "")
    page.fill("#totp-code", "000000")
    button(page, "Confirm").click()
    page.get_by_text("The code is wrong.").wait_for()
    page.fill("#totp-code", code_of(secret))
    button(page, "Confirm").click()
    toast(page, "Two-step sign-in is on.")
    button(page, "Remove the authenticator").wait_for()
    assert not button(page, "Set up an authenticator").is_visible()
    form = page.locator("form", has=page.get_by_role("heading", name="Recovery codes"))
    form.get_by_label("Current password").fill(PASSWORD)
    button(page, "Make new recovery codes").click()
    recovery, spare = page.locator("dialog:last-of-type .codes").inner_text().split()[:2]

    other = visitor(host.url)
    other.fill("[name=name]", "quinn")
    other.fill("[name=password]", PASSWORD)
    button(other, "Sign in").click()
    other.get_by_text("The code in your authenticator app, or a recovery code.").wait_for()
    assert other.locator("[aria-invalid]").count() == 0
    other.get_by_label("One-time code").fill("123456")
    button(other, "Sign in").click()
    other.locator(".form-error", has_text="The code is wrong.").wait_for()
    other.fill("[name=password]", "not this one")
    button(other, "Sign in").click()
    other.locator(".form-error", has_text="The user name or the password is wrong.").wait_for()
    # Toasts about the account do not stay after the sign-out.
    host.post("/api/login", {"name": "quinn", "password": PASSWORD, "code": spare, "device": {"name": "Telescope", "platform": "test"}})
    toast(page, "A new sign-in to your account: Telescope")
    button(other, "Forgot your password?").click()
    other.fill("[name=recovery]", recovery)
    other.fill("[name=password]", "another password")
    button(other, "Reset password").click()
    other.locator(".chat-list .row").first.wait_for()
    page.locator("#auth-form").wait_for()
    assert page.locator(".toast").count() == 0


def test_an_authenticator_that_another_device_has_set_up_is_removed(person, host):
    host.register("rhea", "Rhea Dunn")
    page = person("rhea")
    settings(page, "security")
    button(page, "Set up an authenticator").wait_for()
    secret = host.post("/api/totp", {"password": PASSWORD}, host.tokens["rhea"])["secret"]
    host.post("/api/totp/confirm", {"code": code_of(secret)}, host.tokens["rhea"])
    form = page.locator("form", has=page.get_by_text("Two-step sign-in"))
    form.get_by_label("Current password").fill(PASSWORD)
    form.get_by_label("Current password").press("Enter")
    button(page, "Remove the authenticator").wait_for()
    assert form.get_by_role("alert").inner_text()
    form.get_by_label("Current password").fill(PASSWORD)
    button(page, "Remove the authenticator").click()
    toast(page, "Two-step sign-in is off.")
    button(page, "Set up an authenticator").wait_for()
    assert page.evaluate("document.activeElement.type") == "password"


def test_a_privacy_setting_changed_on_the_page_is_obeyed(person, host):
    host.register("ingo", "Ingo Strand")
    alice = person("alice")
    settings(alice, "privacy")
    assert alice.get_by_label("Who may start a chat with me").input_value() == "all"
    alice.get_by_label("Who may start a chat with me").select_option("contacts")
    alice.get_by_role("switch", name="Show when I am typing").uncheck()
    eventually(alice, "chatApp.state.settings.messages === 'contacts' && chatApp.state.settings.typing === false")
    kept = host.ask("alice", "settings", {})["settings"]
    assert (kept["messages"], kept["typing"]) == ("contacts", False)
    with pytest.raises(AssertionError, match="403"):
        host.pair("ingo", "alice")
    alice.get_by_label("Who may start a chat with me").select_option("all")
    eventually(alice, "chatApp.state.settings.messages === 'all'")
    host.pair("ingo", "alice")


def test_others_see_at_once_who_may_see_the_presence(person, host):
    conv = host.pair("alice", "bob")
    host.do("bob", "send", conv=conv, kind="text", body={"text": "here"})
    bob = person("bob")
    bob.evaluate("(conv) => chatApp.view.openConversation(conv)", conv)
    alice = person("alice")
    bob.locator(".peer", has_text="online").wait_for()
    settings(alice, "privacy")
    for audience in ("none", "contacts"):
        alice.get_by_label("Who sees when I was online").select_option(audience)
        bob.locator(".peer", has_text="online").wait_for(state="detached" if audience == "none" else "attached")


def test_the_actions_on_messages_end_with_the_time_that_the_operator_sets(browser, tmp_path):
    host = ChatHost(tmp_path, options=("--limits", "off", "--edit-hours", "0"))
    try:
        conv = host.pair("alice", "bob")
        host.do("alice", "send", conv=conv, kind="text", body={"text": "as it is"})
        with people(browser, host) as sign_in:
            alice = sign_in("alice")
            alice.evaluate("(conv) => chatApp.view.openConversation(conv)", conv)
            alice.locator(".item .bubble", has_text="as it is").click(button="right")
            alice.get_by_role("menuitem", name="Recall", exact=True).wait_for()
            assert alice.get_by_role("menuitem", name="Edit", exact=True).count() == 0
    finally:
        host.stop()
