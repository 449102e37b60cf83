"""Tests `apus send` and `apus receive` with killed processes and full or failing disks (docs/hazards.md, 23 and 24)."""
import contextlib
import os
import shutil
import signal
import subprocess
import time

import pytest

from support.process import free_port, stop
from support.transfer import Receiver, hash_of, make_file, parts, run_kills, send

linux = pytest.mark.skipif(not os.path.exists("/proc/self/io"), reason="needs Linux: /proc, tmpfs, strace")


@linux
def test_a_killed_transfer_resumes_at_the_durable_offset(tmp_path):
    done = run_kills(tmp_path, free_port(), kills=6, size=12 << 20, rate=12 << 20, seed=24)
    assert done["kills"] == 6


@contextlib.contextmanager
def small_disk(path, megabytes: int):
    path.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(path)], capture_output=True).returncode != 0:
        pytest.skip("no tmpfs can be mounted here")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


@linux
def test_a_full_disk_is_reported_and_the_next_run_resumes(tmp_path):
    """The receiver keeps 64 MiB free and refuses larger files. If the disk fills up during a transfer, both sides report it."""
    expected = make_file(tmp_path / "film", 40 << 20, 1)
    with small_disk(tmp_path / "inbox", 140) as inbox:
        receiver = Receiver(inbox)
        try:
            # A disk that is full before the transfer: no byte is sent.
            make_file(tmp_path / "long", 90 << 20, 2)
            sender = send(tmp_path / "long", receiver.port)
            assert sender.end() == 74
            assert sender.wait_for("failed")["code"] == "disk-full"
            # A disk that becomes full during the transfer.
            sender = send(tmp_path / "film", receiver.port, "--rate-limit", str(16 << 20))
            sender.wait_for("progress")
            with open(inbox / "filler", "wb", buffering=0) as filler:
                with contextlib.suppress(OSError):
                    while True:
                        filler.write(bytes(1 << 16))
            assert sender.end() == 74
            assert sender.wait_for("failed")["code"] == "disk-full"
            assert receiver.wait_for("failed", where=lambda event: event["name"] == "film")["code"] == "disk-full"
            durable = sender.durable
            assert durable > 0
            assert not (inbox / "film").exists(), "a partial file has its final name"
            # The transfer resumes after space is freed.
            (inbox / "filler").unlink()
            sender = send(tmp_path / "film", receiver.port)
            assert sender.end() == 0, sender.errors
            assert sender.wait_for("began")["offset"] >= durable
            assert hash_of(inbox / "film") == expected
            assert parts(inbox) == []
        finally:
            receiver.stop()


@linux
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.parametrize("fault", ["fdatasync:error=EIO:when=3", "fdatasync:error=EIO:when=1", "pwrite64:error=EIO:when=20", "fsync:error=EIO:when=1"])
def test_a_failing_disk_is_reported_and_never_acknowledged(tmp_path, fault):
    """Data that failed to sync is neither acknowledged nor used by the next run (docs/hazards.md, 23)."""
    expected = make_file(tmp_path / "film", 32 << 20, 3)
    inbox = tmp_path / "inbox"
    call = fault.partition(":")[0]
    # strace counts the calls of each thread. With one thread for the disk, the count does not depend on the number of processors.
    one = ("env", "NIO_SINGLETON_BLOCKING_POOL_THREAD_COUNT=1")
    receiver = Receiver(inbox, prefix=(*one, "strace", "-f", "-qq", "-o", str(tmp_path / "trace"), "-e", f"trace={call}", "-e", f"inject={fault}"))
    try:
        sender = send(tmp_path / "film", receiver.port)
        code = sender.end(60)
        assert "INJECTED" in (tmp_path / "trace").read_text(), f"{call} is called less often"
        assert code == 74, (sender.events, sender.errors)
        assert sender.wait_for("failed")["code"] == "storage"
        assert not sender.named("completed")
        assert not (inbox / "film").exists()
        # Everything that was acknowledged had been synced before the failure.
        calls = (tmp_path / "trace").read_text().splitlines()
        good = 0
        for line in calls:
            if "INJECTED" in line:
                break
            good += call == "fdatasync"
        if call == "fdatasync":
            assert sender.durable <= good * (8 << 20), f"{sender.durable} acknowledged after {good} syncs"
            assert parts(inbox) == [], "a partial file that failed to sync is kept"
        # The next run has a disk that works.
        receiver.stop()
        receiver = Receiver(inbox)
        sender = send(tmp_path / "film", receiver.port)
        assert sender.end(60) == 0, (sender.events, sender.errors)
        if call == "fdatasync":
            assert sender.wait_for("began")["offset"] == 0
        assert hash_of(inbox / "film") == expected
    finally:
        receiver.stop()


@linux
def test_a_stopped_receiver_is_detected_and_a_stopped_sender_releases_the_file(tmp_path):
    """After SIGSTOP nothing is closed or answered. The other side ends at its own deadline and reports it."""
    expected = make_file(tmp_path / "film", 24 << 20, 5)
    receiver = Receiver(tmp_path / "inbox")
    try:
        sender = send(tmp_path / "film", receiver.port, "--rate-limit", str(8 << 20))
        sender.wait_for("progress")
        stop(receiver.process)
        begin = time.monotonic()
        try:
            assert sender.end(60) == 69, (sender.events[-3:], sender.errors)
        finally:
            os.kill(receiver.process.pid, signal.SIGCONT)
        assert time.monotonic() - begin < 50
        sender = send(tmp_path / "film", receiver.port, "--wait", "30")
        assert sender.end(60) == 0
        assert hash_of(tmp_path / "inbox" / "film") == expected
    finally:
        receiver.stop()
