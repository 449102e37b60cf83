"""`apus` as a child process on a free port. Its output is kept, and it is ended by its process ID."""
import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARY = pathlib.Path(os.environ.get("APUS_BINARY", ROOT / ".build" / "debug" / "apus"))
# The program with the servers and clients of these tests. `conformance` as the first argument selects it.
CONFORMANCE = BINARY.parent / "ApusConformance"
ADDRESS = re.compile(r"(?:listening on |(?:https?|wss?)://)(127\.0\.0\.1|localhost|\[::1?\]|0\.0\.0\.0):(\d+)")


def free_port() -> int:
    """Returns a port that is free now. Only for servers that are restarted on the same port; other servers use port 0."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def stop(process: subprocess.Popen):
    """Sends SIGSTOP and waits until every thread has stopped: `kill` returns while some still run."""
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)


def program(*arguments: str) -> list[str]:
    """Returns the command line of `apus`, or of `ApusConformance`."""
    return [str(CONFORMANCE), *arguments[1:]] if arguments[0] == "conformance" else [str(BINARY), *arguments]


class ServerProcess:
    def __init__(self, *arguments: str, ready: float = 30, is_ready=ADDRESS.search, cwd: pathlib.Path = ROOT, chooses_ports: bool = True):
        # The arguments must select the ports for HTTP and HTTPS, because another program may use the default ones.
        if chooses_ports and arguments[0] == "serve":
            assert "--port" in arguments and {"--no-tls", "--tls-port"} & set(arguments), arguments
        self.arguments = program(*arguments)
        self.lines: list[str] = []
        self.port = 0
        self._is_ready = is_ready
        self._listening = threading.Event()
        self.process = subprocess.Popen(
            self.arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            cwd=cwd, env={**os.environ, "SWIFT_BACKTRACE": "enable=no", "NO_COLOR": "1"},
        )
        threading.Thread(target=self._read, daemon=True).start()
        deadline = time.monotonic() + ready
        while not self._listening.wait(0.05):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"{self.arguments} did not say that it listens:\n" + "".join(self.lines[-40:]))

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line)
            if self._is_ready(line) and not self._listening.is_set():
                match = ADDRESS.search(line)
                self.port = int(match.group(2)) if match else 0  # no port for a Unix socket
                self._listening.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def descriptors(self) -> int:
        """Returns the number of open file descriptors of the server; -1 without /proc."""
        try:
            return len(os.listdir(f"/proc/{self.process.pid}/fd"))
        except FileNotFoundError:
            return -1

    def sockets(self) -> int:
        """Returns the number of open sockets. The other descriptors are of the event loops, which open them with the first connection."""
        count = 0
        for descriptor in pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                count += os.readlink(descriptor).startswith("socket:")
        return count

    def resident_bytes(self) -> int:
        try:
            with open(f"/proc/{self.process.pid}/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except FileNotFoundError:
            return -1

    def kill(self):
        """Sends SIGKILL and waits up to 10 seconds for the end."""
        if self.is_alive:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def stop(self):
        if self.is_alive:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.kill()
