"""Tests that a copy of the binary in an empty folder serves the web page, and that scripts/embed-page embeds the page."""
import os
import re
import shutil
import subprocess
import time

import pytest
import requests

from support.page import bundled, embed_page
from support.process import ADDRESS, BINARY, ServerProcess


@pytest.mark.timeout(120)
def test_a_copy_of_the_binary_alone_serves_the_page(tmp_path):
    home, program, elsewhere = (tmp_path / name for name in ["home", "program", "elsewhere"])
    for folder in [home, program, elsewhere]:
        folder.mkdir()
    shutil.copy2(BINARY, program / "apus")
    command = [str(program / "apus"), "serve", "--port", "0", "--no-tls", "--data", str(tmp_path / "data")]
    # The folder of the build is hidden, as on another machine.
    hidden = ["unshare", "-m", "sh", "-c", f'mount --make-rprivate / && mount -t tmpfs none "{BINARY.parent.resolve()}" && exec "$@"', "sh"]
    can_hide = subprocess.run([*hidden, "true"], stdin=subprocess.DEVNULL, capture_output=True, timeout=30).returncode == 0
    process = subprocess.Popen(
        (hidden if can_hide else []) + command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        cwd=elsewhere, env={"HOME": str(home), "PATH": os.environ["PATH"]})
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if match := ADDRESS.search(line):
                break
        else:
            raise AssertionError("the server ended:\n" + "".join(lines))
        url = f"http://127.0.0.1:{match.group(2)}"
        files = bundled()
        assert {"index.html", "test.html", "sw.js", "app.webmanifest", "img/icon.svg"} < files.keys()
        for path, data in files.items():
            answer = requests.get(f"{url}/{path}", timeout=20)
            assert (answer.status_code, answer.content) == (200, data), path
            # The content of a file whose name contains its hash never changes.
            cache = "public, max-age=31536000, immutable" if re.search(r"-[0-9a-f]{16}\.", path) else "no-cache"
            assert answer.headers["cache-control"] == cache, path
        index = requests.get(url, timeout=20)
        assert (index.status_code, index.content) == (200, files["index.html"])
        assert requests.get(url + "/join", timeout=20).content == files["index.html"]
        assert index.headers["content-type"] == "text/html; charset=utf-8" and "script-src 'self'" in index.headers["content-security-policy"]
        again = requests.get(url, headers={"If-None-Match": index.headers["etag"]}, timeout=20)
        assert (again.status_code, again.content) == (304, b"")
        assert list(home.iterdir()) == list(elsewhere.iterdir()) == [] and [path.name for path in program.iterdir()] == ["apus"]
    finally:
        process.terminate()
        process.wait(15)
        process.stdout.close()


def test_a_page_is_served_from_a_folder_as_it_changes(tmp_path):
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text("<p>mine</p>")
    server = ServerProcess("serve", "--port", "0", "--no-tls", "--data", str(tmp_path / "data"), "--page", str(page))
    try:
        first = requests.get(server.url, timeout=10)
        assert first.text == "<p>mine</p>"
        assert requests.get(server.url + "/css/base.css", timeout=10).status_code == 404
        (page / "new.js").write_text("1")
        (page / "index.html").write_text("<p>changed</p>")
        for _ in range(100):
            if (answer := requests.get(server.url, headers={"If-None-Match": first.headers["etag"]}, timeout=10)).status_code == 200:
                break
            time.sleep(0.05)  # the server checks the folder twice per second
        assert answer.text == "<p>changed</p>" and requests.get(server.url + "/new.js", timeout=10).text == "1"
    finally:
        server.stop()


def test_a_folder_without_a_page_is_refused(tmp_path):
    result = subprocess.run(
        [BINARY, "serve", "--port", "0", "--no-tls", "--data", str(tmp_path / "data"), "--page", str(tmp_path)], stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=30)
    assert result.returncode != 0 and f"the folder of the page, {tmp_path}, has no index.html" in result.stderr


# --- scripts/embed-page


@pytest.fixture()
def script(tmp_path):
    """Returns the script, with `page` as the files of the page and a temporary Swift file."""
    script = embed_page()
    script.page = {}
    script.ROOT, script.TARGET, script.bundled = tmp_path, tmp_path / "Page" / "EmbeddedPage.swift", lambda: script.page
    return script


CONTENTS = {
    "plain.txt": b"text\n",
    "no-end.txt": b"text",
    "empty.txt": b"",
    "lines.txt": b"\n\n a\n\tb\n",
    "quotes.js": 'let a = """#; let b = \\#(x) + \\(y) + "\\##(z)"; // 在吗 🐦\n'.encode(),
    "indented/deeply/x.css": b"   a {\n     b: c\n   }\n   ",
    "cr.txt": b"a\r\nb\r\n",
    "control.txt": b"a\x00b\x1b[0m",
    "mark.txt": b"\xef\xbb\xbfbom",
    "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 3,
    "font.woff2": b"wOF2" + bytes([255, 254, 0, 1]) * 100,
}


def test_what_the_script_writes_compiles_to_the_same_bytes(script, tmp_path):
    script.page.update(CONTENTS)
    assert script.main() == 0
    swift = script.TARGET.read_text(encoding="utf-8")
    assert script.main() == 0 and script.TARGET.read_text(encoding="utf-8") == swift
    if shutil.which("swiftc") is None:
        pytest.skip("no swiftc on this machine")
    reader = """
        struct EmbeddedFile: Sendable {
            enum Content: Sendable { case text(StaticString), base64(StaticString) }
            let path: String
            let content: Content
        }
        @main enum Reader {
            static func main() {
                for file in EmbeddedPage.files {
                    switch file.content {
                    case .text(let text): print(file.path, "text", text.withUTF8Buffer { Array($0) })
                    case .base64(let text): print(file.path, "base64", text.withUTF8Buffer { Array($0) })
                    }
                }
            }
        }
        """
    (tmp_path / "Reader.swift").write_text(reader)
    subprocess.run(
        ["swiftc", "-swift-version", "6", "-parse-as-library", "-o", "reader", "Reader.swift", str(script.TARGET)], cwd=tmp_path, check=True,
        timeout=120)
    import base64

    found = {}
    for line in subprocess.run([tmp_path / "reader"], capture_output=True, text=True, check=True, timeout=20).stdout.splitlines():
        name, kind, numbers = re.fullmatch(r"(\S+) (\w+) \[(.*)\]", line).groups()
        data = bytes(int(number) for number in numbers.split(", ") if number)
        found[name] = base64.b64decode(data) if kind == "base64" else data
    assert found == CONTENTS


def test_the_check_sees_what_is_not_current(script, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["embed-page", "--check"])
    script.page["a.txt"] = b"a"
    assert script.main() == 1 and not script.TARGET.exists()
    monkeypatch.setattr("sys.argv", ["embed-page"])
    assert script.main() == 0
    monkeypatch.setattr("sys.argv", ["embed-page", "--check"])
    assert script.main() == 0
    script.page["b.txt"] = b"b"
    assert script.main() == 1
    assert "run scripts/embed-page" in capsys.readouterr().out
    script.page["a-txt"] = script.page.pop("b.txt")  # both files would have the same constant
    assert script.main() == 1
    script.page['a".txt'] = script.page.pop("a-txt")
    assert script.main() == 1
