"""The files of the page that the program embeds, and the script that embeds them."""
import importlib.machinery
import importlib.util
import sys

from support.process import ROOT

sys.path.append(str(ROOT / "scripts"))
from bundle_page import bundled  # noqa: E402, F401


def embed_page():
    """Returns `scripts/embed-page` as a module."""
    loader = importlib.machinery.SourceFileLoader("embed_page", str(ROOT / "scripts" / "embed-page"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module
