"""The Autobahn test suite (PyPI `autobahntestsuite`, Python 2.7) in both roles, with `apus` as the other side.

Core: all cases except sections 9, 12 and 13 (247). CI: the core, section 9 and the first seven of each group of 12 and 13 (138 more).
All: 517 cases. `scripts/bootstrap` creates the suite's environment if Python 2.7 is installed.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import time

from .peers import end, free_port, wait_for_port
from .process import ROOT, ServerProcess, program

WSTEST = ROOT / ".venv-autobahn" / "bin" / "wstest"
MISSING = "no .venv-autobahn/bin/wstest: scripts/bootstrap makes it where there is a Python 2.7 (pyenv install 2.7.18)"

CORE = {"cases": ["*"], "exclude-cases": ["9.*", "12.*", "13.*"]}
LARGE = {"cases": ["9.*"] + [f"{group}.{number}" for group in [f"12.{n}" for n in range(1, 6)] + [f"13.{n}" for n in range(1, 8)] for number in range(1, 8)], "exclude-cases": []}
CI = {"cases": [f"{section}.*" for section in (1, 2, 3, 4, 5, 6, 7, 10)] + LARGE["cases"], "exclude-cases": []}
ALL = {"cases": ["*"], "exclude-cases": []}
CORE_COUNT, CI_COUNT, ALL_COUNT = 247, 247 + 138, 517

# Section 9 sends messages of 16 MiB.
OUR_OPTIONS = ["--max-message", str(32 << 20), "--compress"]
ENVIRONMENT = {**os.environ, "SWIFT_BACKTRACE": "enable=no", "NO_COLOR": "1"}


class Report:
    """The suite's report for one role."""

    def __init__(self, folder: pathlib.Path):
        path = folder / "index.json"
        (self.cases,) = json.loads(path.read_text()).values() if path.exists() else ({},)

    def behaviors(self) -> collections.Counter:
        """The number of cases for each result. The result of the close counts if it is worse than that of the case."""
        return collections.Counter(self.verdict(case) for case in self.cases)

    def verdict(self, case: str) -> str:
        entry = self.cases[case]
        if entry["behavior"] in ("OK", "INFORMATIONAL") and entry["behaviorClose"] not in ("OK", "INFORMATIONAL"):
            return "close " + entry["behaviorClose"]
        return entry["behavior"]

    def bad(self) -> list[str]:
        return [f"{case}: {self.verdict(case)}" for case in sorted(self.cases, key=lambda case: [int(part) for part in case.split(".")])
                if self.verdict(case) not in ("OK", "INFORMATIONAL")]

    def section(self, number: int) -> dict[str, str]:
        return {case: self.verdict(case) for case in self.cases if case.split(".")[0] == str(number)}


def run_server_role(folder: pathlib.Path, selection: dict, seconds: float) -> Report:
    """Runs Autobahn as the client of `apus ws --listen`."""
    folder.mkdir(parents=True, exist_ok=True)
    server = ServerProcess("ws", "--listen", "127.0.0.1:0", *OUR_OPTIONS)
    try:
        specification = folder / "fuzzingclient.json"
        specification.write_text(json.dumps({
            "outdir": str(folder), "servers": [{"agent": "Apus", "url": f"ws://127.0.0.1:{server.port}"}], "exclude-agent-cases": {}, **selection}))
        with open(folder / "wstest.log", "w") as log:
            suite = subprocess.Popen([WSTEST, "-m", "fuzzingclient", "-s", specification], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder)
            try:
                suite.wait(seconds)
            finally:
                end(suite)
        assert server.is_alive, "our server ended:\n" + "".join(server.lines[-40:])
    finally:
        server.stop()
    return Report(folder)


def run_client_role(folder: pathlib.Path, selection: dict, seconds: float) -> Report:
    """Runs Autobahn as the server of `apus autobahn-client`."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    specification = folder / "fuzzingserver.json"
    specification.write_text(json.dumps({"outdir": str(folder), "url": f"ws://127.0.0.1:{port}", "exclude-agent-cases": {}, **selection}))
    with open(folder / "wstest.log", "w") as log, open(folder / "client.log", "w") as client_log:
        # -u 0 disables Autobahn's web server.
        suite = subprocess.Popen([WSTEST, "-m", "fuzzingserver", "-u", "0", "-s", specification], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder)
        client = None
        try:
            wait_for_port(port, suite)
            client = subprocess.Popen(
                program("conformance", "autobahn", f"ws://127.0.0.1:{port}"), stdin=subprocess.DEVNULL, stdout=client_log, stderr=client_log, env=ENVIRONMENT)
            status = client.wait(seconds)
            assert status == 0, (folder / "client.log").read_text()[-2000:]
        finally:
            if client is not None:
                end(client)
            end(suite)
    return Report(folder)


def main():
    """run.py [core|ci|all] [server|client|both]: prints the counts for each role and every case that failed."""
    import concurrent.futures

    which = sys.argv[1] if len(sys.argv) > 1 else "ci"
    roles = sys.argv[2] if len(sys.argv) > 2 else "both"
    selection, expected = {"core": (CORE, CORE_COUNT), "ci": (CI, CI_COUNT), "all": (ALL, ALL_COUNT)}[which]
    if not WSTEST.exists():
        sys.exit(MISSING)
    runs = {"server": run_server_role, "client": run_client_role}
    chosen = list(runs) if roles == "both" else [roles]
    root = ROOT / ".build" / "autobahn" / which
    trouble = False
    with concurrent.futures.ThreadPoolExecutor() as pool:
        begin = time.monotonic()
        futures = {role: pool.submit(runs[role], root / role, selection, 3600) for role in chosen}
        for role, future in futures.items():
            report = future.result()
            counts = ", ".join(f"{count} {name}" for name, count in sorted(report.behaviors().items()))
            print(f"Autobahn, our {role}: {len(report.cases)} of {expected} cases: {counts}; after {time.monotonic() - begin:.0f} s; report in {root / role}/index.html")
            for line in report.bad():
                print("  " + line)
            trouble |= bool(report.bad()) or len(report.cases) != expected
    sys.exit(1 if trouble else 0)
