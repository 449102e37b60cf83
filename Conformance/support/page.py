"""The files of the page that the program embeds, and the script that embeds them."""
import functools
import importlib.machinery
import importlib.util
import pathlib
import shutil
import sys
import tempfile

from support.process import ROOT

WEB = ROOT / "Web"  # the page as modules

sys.path.append(str(ROOT / "scripts"))
from bundle_page import bundled  # noqa: E402


def embed_page():
    """Returns `scripts/embed-page` as a module."""
    loader = importlib.machinery.SourceFileLoader("embed_page", str(ROOT / "scripts" / "embed-page"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@functools.cache
def _folder():
    folder = tempfile.TemporaryDirectory(prefix="apus-page-")
    shutil.copytree(WEB, folder.name, dirs_exist_ok=True)
    for path, data in bundled().items():
        if path != "test.html":
            pathlib.Path(folder.name, path).write_bytes(data)
    return folder


def page_folder():
    """Returns a folder with the page as the program embeds it, which a browser opens in half the time that `WEB` takes. It also has the
    modules of `WEB`. A test that imports one gets an instance of its own; `WEB` is for tests that need that of the page. The folder is
    removed at the end of the process."""
    return pathlib.Path(_folder().name)
