"""Runs the official JavaScript client in headless Chromium as a column of the interop matrix; `matrix_client.js` contains the checks.

    python matrix_browser.py URL TRANSPORT… --client socket.io.min.js --chromium PATH

One browser, with a separate context for each transport. Each line printed names its transport.
"""
import argparse
import asyncio
import json
import pathlib

from playwright.async_api import async_playwright

arguments = argparse.ArgumentParser()
arguments.add_argument("url")
arguments.add_argument("transports", nargs="+")
arguments.add_argument("--client", required=True)
arguments.add_argument("--chromium", required=True)
options = arguments.parse_args()
ROWS = pathlib.Path(__file__).with_suffix("").with_name("matrix_client.js")


async def run(browser, transport):
    context = await browser.new_context()
    page = await context.new_page()
    say = lambda line: print(json.dumps({"transport": transport, **line}), flush=True)
    page.on("pageerror", lambda error: say({"trouble": str(error)}))
    await page.expose_function("report", say)
    # The server's 404 page, which has the server's origin, like most pages that connect to it. (A page of Playwright has no address, and
    # Chromium does not permit it to open a WebSocket to this machine.)
    await page.goto(options.url + "/matrix.html")
    await page.add_script_tag(path=options.client)
    await page.add_script_tag(path=str(ROWS))
    await page.evaluate("([url, transport]) => runMatrix(url, transport)", [options.url, transport])
    await context.close()


async def main():
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=options.chromium, args=["--no-sandbox", "--disable-dev-shm-usage"])
        await asyncio.gather(*(run(browser, transport) for transport in options.transports))
        await browser.close()


asyncio.run(main())
