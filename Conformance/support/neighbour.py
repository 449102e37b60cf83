"""A client that the attacks of a test must not affect: it sends echoes continuously and records the longest delay."""
import json
import threading
import time

import websocket


class Neighbour:
    def __init__(self, port: int):
        self.echoes = 0
        self.longest_wait = 0.0
        self.trouble: str | None = None
        self._stop = threading.Event()
        self._socket = websocket.create_connection(f"ws://127.0.0.1:{port}/socket.io/?EIO=4&transport=websocket", timeout=20)
        assert self._socket.recv().startswith("0{")
        self._socket.send("40")
        assert self._socket.recv().startswith("40{")
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        try:
            while not self._stop.is_set():
                begin = time.monotonic()
                self._socket.send("42" + json.dumps(["echo", self.echoes]))
                self._receive("42" + json.dumps(["echo", self.echoes], separators=(",", ":")))
                self.longest_wait = max(self.longest_wait, time.monotonic() - begin)
                self.echoes += 1
                self._stop.wait(0.01)
        except Exception as error:  # any error is reported by the test
            self.trouble = f"{type(error).__name__}: {error} after {self.echoes} echoes"

    def _receive(self, expected: str):
        while True:
            text = self._socket.recv()
            if text == "2":
                self._socket.send("3")
            elif text == expected:
                return
            else:
                raise AssertionError(f"expected {expected!r}, got {text!r}")

    def check(self):
        assert self.trouble is None, self.trouble

    def finish(self):
        self._stop.set()
        self._thread.join(25)
        self._socket.close()
        self.check()
