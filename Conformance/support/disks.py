"""Disks with faults: a small one that becomes full, one whose syncs fail, and one whose power fails."""
import contextlib
import os
import pathlib
import subprocess
import tempfile

import pytest

# Makes fsync and fdatasync fail while the file SYNC_FAULT_FILE exists.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int fails(void) {
    const char *path = getenv("SYNC_FAULT_FILE");
    int before = errno;
    if (path && access(path, F_OK) == 0) return errno = EIO, 1;
    errno = before;
    return 0;
}

int fsync(int file) {
    static int (*original)(int);
    if (fails()) return -1;
    if (!original) original = dlsym(RTLD_NEXT, "fsync");
    return original(file);
}

int fdatasync(int file) {
    static int (*original)(int);
    if (fails()) return -1;
    if (!original) original = dlsym(RTLD_NEXT, "fdatasync");
    return original(file);
}
"""


@contextlib.contextmanager
def failing_syncs(folder: pathlib.Path):
    """Yields a path. Servers that are started in the block cannot sync files while a file with this path exists."""
    source, library, flag = folder / "shim.c", folder / "shim.so", folder / "fails"
    source.write_text(SHIM)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    os.environ.update(LD_PRELOAD=str(library), SYNC_FAULT_FILE=str(flag))
    try:
        yield flag
    finally:
        os.environ.pop("LD_PRELOAD")
        os.environ.pop("SYNC_FAULT_FILE")


@contextlib.contextmanager
def mounted(*arguments: str):
    """Yields the folder of a mounted file system. Skips the test if mounting is not permitted."""
    with tempfile.TemporaryDirectory(prefix="apus-disk-") as folder:
        done = subprocess.run(["mount", *arguments, folder], capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip(f"cannot mount: {done.stderr.strip()}")
        try:
            yield pathlib.Path(folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


@contextlib.contextmanager
def image(megabytes: int):
    """An image of an empty ext4 file system in a file in memory, whose content can be copied at any time."""
    with tempfile.TemporaryDirectory(prefix="apus-image-", dir="/dev/shm") as folder:
        path = pathlib.Path(folder) / "image"
        with open(path, "wb") as file:
            file.truncate(megabytes << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", path], check=True)
        yield path
