"""Fixtures of the browser tests: headless Chromium.

Environment: APUS_CHROMIUM overrides the browser's path, APUS_SCREENSHOTS names a folder for pictures.
"""

import os
import shutil

import pytest


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
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()
