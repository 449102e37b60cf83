"""Runs the Autobahn test suite, 385 cases in each role, with both roles in parallel: no case is FAILED or NON-STRICT."""
import concurrent.futures
import pathlib

import pytest

from support.autobahn import CI, CI_COUNT, MISSING, WSTEST, run_client_role, run_server_role

pytestmark = [pytest.mark.skipif(not WSTEST.exists(), reason=MISSING), pytest.mark.timeout(900)]

SECTIONS = {
    1: "framing", 2: "pings and pongs", 3: "reserved bits", 4: "opcodes", 5: "fragmentation", 6: "UTF-8", 7: "close handshake",
    9: "limits and performance", 10: "misc", 12: "compression, sizes", 13: "compression, parameters",
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        folder: pathlib.Path = tmp_path_factory.mktemp("autobahn")
        server = pool.submit(run_server_role, folder / "server", CI, 800)
        client = pool.submit(run_client_role, folder / "client", CI, 800)
        return {"server": server.result(), "client": client.result()}


@pytest.mark.parametrize("role", ["server", "client"])
def test_every_case_was_run(reports, role):
    print(f"our {role}: {dict(reports[role].behaviors())}")
    assert len(reports[role].cases) == CI_COUNT


@pytest.mark.parametrize("role", ["server", "client"])
@pytest.mark.parametrize("section", SECTIONS, ids=[f"{number} {name}" for number, name in SECTIONS.items()])
def test_section(reports, role, section):
    verdicts = reports[role].section(section)
    assert verdicts
    assert {case: verdict for case, verdict in verdicts.items() if verdict not in ("OK", "INFORMATIONAL")} == {}
