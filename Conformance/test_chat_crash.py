"""Kills the chat server under load and makes its disk fail. No acknowledged message is lost, none is stored twice or forged, the log has
no gap, and the clients recover without help.

With APUS_LONG=1, as in `make test-long`, the kills last a minute and power cuts are tested.
"""
import asyncio
import contextlib
import os
import shutil
import time

import pytest
import requests

from support import disks
from support.chat import bearer, register
from support.journal import Journal
from support.process import ServerProcess, free_port, stop

LONG = os.environ.get("APUS_LONG") == "1"


def serve(folder, port) -> ServerProcess:
    # The limits are off, because each user sends in several conversations without pauses.
    return ServerProcess("serve", "--port", str(port), "--no-tls", "--data", str(folder), "--limits", "off", "--log-level", "error")


class Host:
    """A server that is restarted with the same port and folder."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.process = serve(folder, self.port)

    @property
    def url(self):
        return self.process.url

    async def restart(self):
        await asyncio.to_thread(self.process.kill)
        self.process = await asyncio.to_thread(serve, self.folder, self.port)

    def ready(self) -> int:
        return requests.get(self.url + "/ready", timeout=10).status_code


def sign_out(url, account):
    return requests.post(url + "/api/logout", json={"refresh": account["refresh"]}, headers=bearer(account), timeout=30)


def me(url, account):
    return requests.get(url + "/api/sessions", headers=bearer(account), timeout=30)


@pytest.fixture
def host(tmp_path):
    host = Host(tmp_path / "data")
    yield host
    host.process.kill()


@pytest.mark.timeout(240)
def test_kills(host):
    journal = Journal(host.url)
    kills = 60 if LONG else 8

    async def scenario():
        for _ in range(kills):
            begin = time.monotonic()
            await journal.more(1)
            await asyncio.sleep(max(0, 1 - (time.monotonic() - begin)))
            await host.restart()
        await journal.more(100)

    asyncio.run(journal.run(scenario()))
    print(f"{kills} kills, {journal.count} acknowledged, refusals {journal.refusals}")
    assert journal.count > 20 * kills
    journal.check()


@pytest.mark.timeout(200)
def test_a_full_disk(tmp_path):
    with disks.mounted("-t", "tmpfs", "-o", "size=48m", "tmpfs") as disk:
        host = Host(disk / "data")
        try:
            journal = Journal(host.url, text="a long message " * 400)
            leaver = register(host.url, "leaver")

            async def scenario():
                await journal.more(20)
                with contextlib.suppress(OSError):  # the server writes at the same time
                    await asyncio.to_thread((disk / "ballast").write_bytes, bytes(shutil.disk_usage(disk).free - (512 << 10)))
                async with asyncio.timeout(60):
                    while not journal.refusals:
                        await asyncio.sleep(0.05)
                assert set(journal.refusals) == {"storage"}, journal.refusals
                assert await asyncio.to_thread(host.ready) == 503
                # Reads and sign-outs succeed.
                conversation = next(iter(journal.members))
                assert len(await asyncio.to_thread(journal.history, journal.accounts[0], conversation)) > 1
                assert (await asyncio.to_thread(sign_out, host.url, leaver)).status_code == 200
                assert (await asyncio.to_thread(me, host.url, leaver)).status_code == 401
                (disk / "ballast").unlink()
                await journal.more(20)
                assert await asyncio.to_thread(host.ready) == 200

            asyncio.run(journal.run(scenario()))
            print(f"{journal.count} acknowledged, refusals {journal.refusals}")
            journal.check()
        finally:
            host.process.kill()


@pytest.mark.timeout(200)
def test_failing_syncs(tmp_path):
    with disks.failing_syncs(tmp_path) as fault:
        host = Host(tmp_path / "data")
        try:
            journal = Journal(host.url)

            async def scenario():
                for round in range(4 if LONG else 2):
                    await journal.more(20)
                    fault.touch()
                    async with asyncio.timeout(20):
                        while not journal.refusals:
                            await asyncio.sleep(0.02)
                    await asyncio.sleep(0.5)  # for the acks of the previous batch on other connections
                    before = journal.count
                    await asyncio.sleep(1)
                    assert journal.count == before, "a message was acknowledged without a sync"
                    assert await asyncio.to_thread(host.ready) == 503
                    if round % 2 == 1:
                        fault.unlink()  # a server that starts must be able to write
                        await host.restart()
                    fault.unlink(missing_ok=True)
                    await journal.more(20)
                    journal.refusals.clear()

            asyncio.run(journal.run(scenario()))
            print(f"{journal.count} acknowledged")
            journal.check()
        finally:
            host.process.kill()


@pytest.mark.skipif(not LONG, reason="with APUS_LONG=1, in `make test-long`")
@pytest.mark.timeout(300)
def test_power_cuts():
    """The disk is copied while the server is stopped. A server with the copy has all acknowledged messages."""
    with disks.image(128) as image, disks.mounted("-o", "loop", str(image)) as disk:
        host = Host(disk / "data")
        journal = Journal(host.url)
        copies = []

        async def scenario():
            for cut in range(8):
                await journal.more(50)
                await asyncio.to_thread(stop, host.process.process)
                await asyncio.sleep(0.3)  # the clients read the acks that were sent
                copy = image.with_name(f"copy{cut}")
                await asyncio.to_thread(shutil.copyfile, image, copy)
                copies.append((copy, {key: dict(value) for key, value in journal.acknowledged.items()}))
                host.process.process.send_signal(18)  # SIGCONT

        try:
            asyncio.run(journal.run(scenario()))
        finally:
            host.process.kill()
        for copy, acknowledged in copies:
            with disks.mounted("-o", "loop", str(copy)) as disk_after:
                after = Host(disk_after / "data")
                try:
                    journal.acknowledged = acknowledged
                    journal.check(after.url)
                finally:
                    after.process.kill()
        print(f"{len(copies)} power cuts, {journal.count} acknowledged before the last one")
