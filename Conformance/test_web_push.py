"""Web Push messages of Apus, read with the libraries of pywebpush: http_ece (RFC 8188, 8291) and py_vapid (RFC 8292)."""
import base64
import json
import os
import subprocess

import http_ece
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02
from pywebpush import WebPusher

from support.process import program

MESSAGES = ["", "a", "你好 😀", json.dumps({"title": "Alice", "body": "x" * 3000}), "y" * 3993]


def text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def binary(value: str) -> bytes:
    return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4))


class Browser:
    """The keys of a subscription, and the decryption of a push."""

    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.secret = os.urandom(16)
        point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.subscription = {"endpoint": "https://push.example.net:8443/send/1?x=y", "keys": {"p256dh": text(point), "auth": text(self.secret)}}

    def read(self, body: bytes) -> bytes:
        return http_ece.decrypt(body, private_key=self.key, auth_secret=self.secret, version="aes128gcm")


@pytest.fixture(scope="module")
def requests():
    browser = Browser()
    lines = "".join(json.dumps({**browser.subscription, "message": message}) + "\n" for message in MESSAGES)
    done = subprocess.run(program("conformance", "push"), input=lines, capture_output=True, text=True, timeout=60, check=True)
    return browser, [json.loads(line) for line in done.stdout.splitlines()]


def test_a_browser_decrypts_every_message(requests):
    browser, answers = requests
    assert [browser.read(binary(answer["body"])).decode() for answer in answers] == MESSAGES
    assert len(binary(answers[-1]["body"])) == 4096


def test_another_browser_decrypts_none(requests):
    _, answers = requests
    with pytest.raises(http_ece.ECEException):
        Browser().read(binary(answers[1]["body"]))


def test_the_body_has_the_header_of_pywebpush(requests):
    """A salt of 16 bytes, records of 4,096 bytes, and the public key as their id."""
    browser, answers = requests
    peer = WebPusher(browser.subscription).encode(b"a", content_encoding="aes128gcm")["body"]
    ours = binary(answers[1]["body"])
    assert browser.read(peer) == b"a"
    assert ours[16:21] == peer[16:21] == (4096).to_bytes(4, "big") + b"\x41"
    assert ours[21] == peer[21] == 4 and len(ours) == len(peer)


def test_the_token_is_verified(requests):
    """py_vapid verifies the signature. The claims are those of RFC 8292, section 2, without which a push service refuses the request."""
    _, answers = requests
    authorization = answers[0]["authorization"]
    assert verifies(authorization)
    claims = json.loads(binary(authorization.split(".")[1]))
    assert claims["aud"] == "https://push.example.net:8443" and claims["sub"] == "mailto:push@example.com"
    head, signature, key = authorization.rpartition(".")[0], *authorization.rpartition(".")[2].split(", k=")
    forged = head + "." + text(bytes([binary(signature)[0] ^ 1]) + binary(signature)[1:]) + ", k=" + key
    assert not verifies(forged)


def verifies(authorization: str) -> bool:
    try:
        return Vapid02.verify(authorization.replace(", k=", ",k="))  # the library reads no space after the comma
    except Exception:  # the kind depends on the version of the library
        return False
