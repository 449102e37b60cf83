"""`Benchmarks/chat/large` with few members: the server accepts the rows that it writes, and answers its requests."""
import os
import subprocess
import sys

from support.process import BINARY, ROOT


def test_the_benchmark_of_large_conversations_runs():
    command = [sys.executable, ROOT / "Benchmarks" / "chat" / "large", "--times", "2", "--group", "60", "--channel", "120", "--messages", "20"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "APUS_BINARY": str(BINARY)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "channel of 120: search a word" in done.stdout
