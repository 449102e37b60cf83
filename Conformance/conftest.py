import pytest

from support import matrix
from support.neighbour import Neighbour
from support.process import BINARY, ServerProcess


def pytest_collection_modifyitems(items):
    if not BINARY.exists():
        for item in items:
            item.add_marker(pytest.mark.skip(reason=f"{BINARY} is not built"))


def pytest_terminal_summary(terminalreporter, config):
    result = getattr(config, "matrix", None)
    if result:
        terminalreporter.section("interop matrix")
        terminalreporter.write_line(matrix.table(result))


@pytest.fixture(scope="module")
def server():
    process = ServerProcess("conformance", "server", "--port", "0")
    yield process
    alive = process.is_alive
    process.stop()
    assert alive, "the server ended by itself:\n" + "".join(process.lines[-40:])


@pytest.fixture(scope="module")
def neighbour(server):
    """A client that sends echoes during every test of the module; checked after each test and at the end."""
    client = Neighbour(server.port)
    yield client
    client.finish()
    assert client.echoes > 10
    # An echo takes less than a millisecond, and a stall much longer than this limit. The test shares two busy cores with the server.
    assert client.longest_wait < 5, f"one echo took {client.longest_wait:.1f} s"
