"""Calls whose network changes: a lost chat socket, an ICE restart, and TURN servers as the only path."""

import contextlib
import shutil
import socket
import subprocess
import time

import pytest

from support.callpage import RECEIVED, UFRAGS, answer, callers, connected, control, decoding, host, over, person, ring, until  # noqa: F401
from support.chathost import ChatHost

SECRET = "north-star"


def begin(person, host, media="video"):
    pair = host.pair("alice", "bob")
    alice, bob = person("alice"), person("bob")
    ring(alice, pair, media)
    answer(bob)
    connected(alice, bob)
    return alice, bob


def test_a_call_goes_on_without_the_chat_and_its_signals_resume(person, host):
    alice, bob = begin(person, host)
    host.restart()  # cuts both sockets; the server forgets which devices take part
    for page in (alice, bob):
        decoding(page, "video")
    for page in (alice, bob):
        until(page, "chatApp.state.connection.state === 'online'")
    connected(alice, bob)
    control(alice, "camera")
    until(bob, "document.querySelector('.tile.with-video') === null")
    control(alice, "camera")
    bob.locator(".tile.with-video").wait_for()
    decoding(bob, "video")
    control(bob, "hang-up")
    over(alice)


def test_an_ice_restart_finds_a_new_path_and_frames_go_on(person, host):
    alice, bob = begin(person, host)
    before = alice.evaluate(UFRAGS)[0]
    alice.evaluate("dispatchEvent(new Event('online'))")  # as when the network changes
    until(alice, f"({UFRAGS})()[0].every((each, index) => each !== {before}[index])")
    until(bob, f"!{before}.includes(({UFRAGS})()[0][0])")
    connected(alice, bob)
    for page in (alice, bob):
        decoding(page, "video")
    # Both sides restart at the same time. One offer is accepted, and the other side repeats its own.
    before = alice.evaluate(UFRAGS)[0]
    for page in (alice, bob):
        page.evaluate("void chatApp.calls.current.restartICE()")
    until(alice, f"({UFRAGS})()[0].every((each, index) => each !== {before}[index])")
    connected(alice, bob)
    for page in (alice, bob):
        decoding(page, "video")
    control(bob, "hang-up")
    over(alice)


@contextlib.contextmanager
def turn_server(folder):
    """Debian's coturn on loopback, on a port that is free now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [
            "turnserver", "--no-stdout-log", "--log-file", str(folder / "turn.log"), "--simple-log", "-n", "--listening-ip", "127.0.0.1",
            "--relay-ip", "127.0.0.1", "--listening-port", str(port), "--allow-loopback-peers", "--use-auth-secret",
            "--static-auth-secret", SECRET, "--realm", "apus", "--no-tls", "--no-dtls", "--no-cli", "--pidfile", str(folder / "turn.pid"),
            "--userdb", str(folder / "turn.db"),
        ],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            assert process.poll() is None and time.monotonic() < deadline, "turnserver does not start"
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.mark.skipif(shutil.which("turnserver") is None, reason="coturn is not installed")
def test_a_call_by_the_relay_alone(phone, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(SECRET + "\n")
    with turn_server(tmp_path) as port:
        options = ("--limits", "off", "--turn-url", f"turn:127.0.0.1:{port}", "--turn-secret-file", str(secret), "--relay-only-calls")
        host = ChatHost(tmp_path / "data", options=options)
        try:
            servers = host.ask("alice", "call.servers", {})
            assert servers["relay_only"] and servers["servers"][0]["username"].endswith(":alice")
            with callers(phone, host) as person:
                alice, bob = begin(person, host)
                for page in (alice, bob):
                    decoding(page, "video")
                    assert [each["relay"] for each in page.evaluate(RECEIVED)] == ["relay"]
                    assert page.evaluate("[...chatApp.calls.current.peers.values()].every(({ connection }) => !/ typ (host|srflx) /.test(connection.localDescription.sdp))")
                control(bob, "hang-up")
                over(alice)
        finally:
            host.stop()
