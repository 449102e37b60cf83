"""`apus receive` and `apus send` as child processes whose events are recorded, for the fault tests of transfers."""
import contextlib
import hashlib
import json
import os
import pathlib
import random
import signal
import subprocess
import threading
import time

from support.process import BINARY, ROOT

WINDOW = 4 << 20
"""The maximum number of bytes that a sender may send beyond the acknowledged offset."""

ENVIRONMENT = {**os.environ, "SWIFT_BACKTRACE": "enable=no", "NO_COLOR": "1"}


class Peer:
    """A process with `--json`; its events are kept."""

    def __init__(self, *arguments: str, prefix: tuple[str, ...] = ()):
        self.events: list[dict] = []
        self.errors: list[str] = []
        self.process = subprocess.Popen(
            [*prefix, str(BINARY), *arguments, "--json", "--plain"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, errors="replace", cwd=ROOT, env=ENVIRONMENT, start_new_session=True)
        self._change = threading.Condition()
        self._readers = [threading.Thread(target=self._read, daemon=True), threading.Thread(target=self._read_errors, daemon=True)]
        for reader in self._readers:
            reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self._change:
                with contextlib.suppress(ValueError):  # killed while writing a line
                    self.events.append(json.loads(line))
                self._change.notify_all()

    def _read_errors(self):
        for line in self.process.stderr:
            self.errors.append(line)

    def wait_for(self, name: str, timeout: float = 30, where=lambda event: True) -> dict:
        """Returns the first event of this name that matches. Raises AssertionError with the last output after `timeout` seconds, or at the
        end of the process."""
        deadline = time.monotonic() + timeout
        with self._change:
            while True:
                for event in self.events:
                    if event["event"] == name and where(event):
                        return event
                left = deadline - time.monotonic()
                if left <= 0 or (self.has_ended and not self._readers[0].is_alive()):
                    raise AssertionError(f"no {name} of {self.process.args}: {self.events[-5:]} {self.errors[-5:]}")
                self._change.wait(min(left, 0.2))

    def named(self, name: str) -> list[dict]:
        with self._change:
            return [event for event in self.events if event["event"] == name]

    @property
    def durable(self) -> int:
        """The highest acknowledged offset; 0 before the first one."""
        return max([event["bytes"] for event in self.named("progress")] + [event["offset"] for event in self.named("began")], default=0)

    def written_bytes(self) -> int:
        """The bytes written so far to sockets and files by write(2) and similar calls; also of a killed process that was not waited for."""
        with open(f"/proc/{self.process.pid}/io") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("wchar"))

    def peak_bytes(self) -> int:
        with open(f"/proc/{self.process.pid}/status") as file:
            return next((int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM")), 0)

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended. Unlike `poll`, does not reap it, so that /proc still contains it."""
        if self.process.returncode is not None:
            return True
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None

    def kill(self):
        if not self.has_ended:
            os.kill(self.process.pid, signal.SIGKILL)

    def end(self, timeout: float = 30) -> int:
        """Waits for the end of the process and of its output. Returns the exit code."""
        code = self.process.wait(timeout)
        for reader in self._readers:
            reader.join(10)
        return code

    def stop(self):
        if not self.has_ended:
            os.killpg(self.process.pid, signal.SIGTERM)  # strace ends without its child
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.end()


class Receiver(Peer):
    def __init__(self, folder, port: int = 0, prefix: tuple[str, ...] = ()):
        super().__init__("receive", "--listen", f"127.0.0.1:{port}", "--into", str(folder), prefix=prefix)
        self.port = int(self.wait_for("listening", 60)["address"].rpartition(":")[2])


def send(path, port: int, *arguments: str) -> Peer:
    return Peer("send", str(path), f"127.0.0.1:{port}", "--wait", "0", *arguments)


def make_file(path: pathlib.Path, size: int, seed: int) -> str:
    """Writes random bytes and returns their SHA-256."""
    generator = random.Random(seed)
    digest = hashlib.sha256()
    with open(path, "wb") as file:
        while size > 0:
            piece = generator.randbytes(min(size, 1 << 20))
            digest.update(piece)
            file.write(piece)
            size -= len(piece)
    return digest.hexdigest()


def hash_of(path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def parts(folder) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.endswith(".part"))


def run_kills(root: pathlib.Path, port: int, kills: int, size: int, rate: int, seed: int, say=print) -> dict:
    """Sends files and kills either side at random times, until `kills` kills have happened and the last file is complete.

    After every kill the next run must resume at the acknowledged offset or after it. All runs for a file together must not write more than
    the file and one window for each kill.
    """
    generator = random.Random(seed)
    inbox = root / "inbox"
    receiver = Receiver(inbox, port)
    done = {"kills": 0, "sender": 0, "receiver": 0, "files": 0, "resumed": 0, "bytes": 0, "sent": 0}
    try:
        while done["kills"] < kills:
            name = f"file-{done['files']}"
            expected = make_file(root / name, size, seed + done["files"])
            durable, written, died, offsets = 0, 0, 0, []
            while True:
                sender = send(root / name, receiver.port, "--rate-limit", str(rate))
                victim = None
                if done["kills"] < kills:
                    victim = generator.choice(["sender", "receiver"])
                    deadline = time.monotonic() + generator.uniform(0, 0.9 * size / rate)
                    while time.monotonic() < deadline and not sender.has_ended:
                        time.sleep(0.002)
                    if sender.has_ended:
                        victim = None  # the transfer ended first
                if victim == "sender":
                    sender.kill()
                elif victim == "receiver":
                    receiver.kill()
                    receiver.end()
                os.waitid(os.P_PID, sender.process.pid, os.WEXITED | os.WNOWAIT)
                written += sender.written_bytes()
                code = sender.end(60)
                for event in sender.named("began"):
                    offsets.append(event["offset"])
                    assert event["offset"] >= durable, f"resumed at {event['offset']}, but {durable} bytes were durable"
                durable = max(durable, sender.durable)
                if victim is None:
                    assert code == 0, f"apus send exited with {code}: {sender.events[-3:]} {sender.errors}"
                    break
                done["kills"] += 1
                done[victim] += 1
                died += 1
                if victim == "receiver":
                    receiver = Receiver(inbox, port)
            assert hash_of(inbox / name) == expected, f"{name} is wrong"
            assert os.listdir(inbox) == [name], f"left behind: {os.listdir(inbox)}"
            bound = size + (died + 1) * (WINDOW + (1 << 20))
            assert written <= bound, f"{written} bytes were written for {size} bytes and {died} kills"
            done["files"] += 1
            done["resumed"] += sum(offset > 0 for offset in offsets)
            done["bytes"] += size
            done["sent"] += written
            say(f"{name}: {died} kills, went on from {offsets}, {written / size:.3f} times its size written")
            (inbox / name).unlink()
            (root / name).unlink()
    finally:
        receiver.stop()
    return done
