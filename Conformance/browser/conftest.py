"""Fixtures of the browser tests: headless Chromium.

Environment: APUS_CHROMIUM overrides the browser's path, APUS_SCREENSHOTS names a folder for pictures.
"""

import contextlib
import os
import shutil

import pytest

from support import callpage
from support.chathost import running_host
from support.samplepage import DESKTOP


# Each window of a headless Chromium loads the list of suggestions of its hidden address bar, which takes as much processor time as the
# page itself. Chromium reads only the last list of disabled features, so this one begins with Playwright's.
PLAYWRIGHT_OFF = (
    "AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,LensOverlay,MediaRouter,"
    "PaintHolding,ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,OptimizationHints,NetworkTimeServiceQuerying,AimEnabled"
)
OFF = f"{PLAYWRIGHT_OFF},WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup"
SMALL = ["--no-sandbox", "--disable-dev-shm-usage", f"--disable-features={OFF}"]
# A camera, a microphone and their permission. A test of a refusal removes the permission.
DEVICES = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]


def find_chromium():
    names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
    paths = ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium"]
    found = [os.environ.get("APUS_CHROMIUM")] + [shutil.which(name) for name in names] + [path for path in paths if os.path.exists(path)]
    return next((path for path in found if path), None)


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=[*SMALL, *DEVICES])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def phone(browser):
    """A browser with a fake camera and a fake microphone."""
    with contextlib.closing(browser.browser_type.launch(executable_path=find_chromium(), args=[*SMALL, *callpage.FLAGS])) as browser:
        yield browser


@pytest.fixture(scope="module")
def chat(request, tmp_path_factory):
    """The server of the tests of a module, with the page of its variable `PAGE_FOLDER` if it has one."""
    with running_host(tmp_path_factory.mktemp("chat"), getattr(request.module, "PAGE_FOLDER", None)) as chat:
        yield chat


@pytest.fixture()
def person(browser, chat):
    """Signs a user in, on a separate page. Fails on errors of scripts and violations of the content security policy."""
    with contextlib.ExitStack() as contexts:
        complaints = []

        def note(message):
            if "Content Security Policy" in message.text or "TypeError" in message.text:
                complaints.append(message.text)

        def sign_in(name, size=DESKTOP, locale="en-GB", **options):
            context = contexts.enter_context(contextlib.closing(browser.new_context(viewport=size, locale=locale, **options)))
            context.set_default_timeout(15_000)
            page = context.new_page()
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("console", note)
            page.goto(chat.url + "/")
            page.fill("[name=name]", name)
            page.fill("[name=password]", "apus-demo")
            page.keyboard.press("Enter")
            page.locator(".chat-list .row").first.wait_for()
            return page

        yield sign_in
        assert complaints == []
