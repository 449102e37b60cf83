#!/usr/bin/env python3
"""Bundles the pages in `Web/` for a server: few files, with hashes of their content in their names.

    scripts/bundle_page.py FOLDER

The modules that a script imports become one script, and the style sheets one sheet. Scripts lose their
comments and their indentation, also within template strings. A file with a hash in its name never changes,
so that it is cached for good. `index.html` and `sw.js` keep their names. The modules have to keep to
`import { names } from "path"` and `export` before a declaration, without cycles.
"""
import hashlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "Web"
IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"([^"]+)";\n', re.M)
PASSED_ON = re.compile(r'^export \{([^}]*)\} from "([^"]+)";\n', re.M)
EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.M)
LATER = re.compile(r'(?:import\(|new URL\()"([^"]+\.js)"')
COMMENT = re.compile(r"^ *(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/)\n", re.M)  # one that has its lines for itself
INDENTATION = re.compile(r"^ +", re.M)
OTHER = re.compile(r"^(?:import|export) .*", re.M)


class Bundler:
    def __init__(self):
        self.scripts = {}  # path of a first module -> path of its bundle
        self.files = {}

    def script(self, path):
        """Returns the path of the bundle that begins with this module."""
        if path not in self.scripts:
            modules = {}
            self.collect(path, modules, [])
            text = "".join(modules.values())
            text = text[text.index("\n") + 1:] if text.startswith("\n") else text
            name = path.removesuffix(".js").replace("js/", "").replace("/", "-")
            self.scripts[path] = self.add(f"js/{name}", ".js", text.encode())
        return self.scripts[path]

    def collect(self, path, modules, above):
        """Adds the module after those that it imports, as the script of a function that returns its exports."""
        if path in modules:
            return
        if path in above:
            raise SystemExit(f"bundle_page: error: a cycle of imports: {' -> '.join([*above, path])}")
        text = read(path)
        targets = [resolved(path, match[2]) for pattern in (IMPORT, PASSED_ON) for match in pattern.finditer(text)]
        for target in targets:
            self.collect(target, modules, [*above, path])
        names = EXPORT.findall(text)

        def imported(match):
            source = constant(resolved(path, match[2]))
            return f"const {{ {match[1].strip().replace(' as ', ': ')} }} = {source};\n" if match[1] else ""

        def passed_on(match):
            names.extend(name.strip() for name in match[1].split(","))
            return f"const {{ {match[1].strip()} }} = {constant(resolved(path, match[2]))};\n"

        text = EXPORT.sub("", IMPORT.sub(imported, PASSED_ON.sub(passed_on, text)))
        text = LATER.sub(lambda match: match[0].replace(match[1], "./" + self.script(resolved(path, match[1])).removeprefix("js/")), text)
        if found := OTHER.search(text):
            raise SystemExit(f"bundle_page: error: {path}: cannot bundle: {found[0]}")
        text = INDENTATION.sub("", COMMENT.sub("", text))
        modules[path] = f"const {constant(path)} = (() => {{\n{text}return {{ {', '.join(names)} }};\n}})();\n"

    def document(self, path, first):
        """Returns a document that names its bundles, of which the script begins with the module `first`."""
        html = read(path)
        sheets = re.findall(r'<link rel="stylesheet" href="([^"]+)">', html)
        name = path.removesuffix(".html")
        style = self.add(f"css/{'page' if name == 'index' else name}", ".css", "".join(map(read, sheets)).encode())
        html = re.sub(r'( *<link rel="stylesheet" href="[^"]+">\n)+', f'  <link rel="stylesheet" href="{style}">\n', html)
        return re.sub(
            r'( *<script type="module" src="[^"]+"></script>\n)+', f'  <script type="module" src="{self.script(first)}"></script>\n', html)

    def add(self, name, ending, data):
        path = f"{name}-{hashlib.sha256(data).hexdigest()[:16]}{ending}"
        self.files[path] = data
        return path


def read(path):
    return (PAGE / path).read_text(encoding="utf-8")


def resolved(path, target):
    if target.startswith("/"):
        return target[1:]
    parts = path.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def constant(path):
    return "$" + re.sub(r"\W", "_", path.removeprefix("js/").removesuffix(".js"))


def bundled():
    """Returns the files of the pages: path -> bytes."""
    bundler = Bundler()
    others = [path for folder in ("", "img/") for path in sorted((PAGE / folder).iterdir()) if path.is_file()]
    files = {path.relative_to(PAGE).as_posix(): path.read_bytes() for path in others if not path.name.startswith(".")}
    chat = bundler.document("index.html", "js/app.js")
    # Named here, the script of the worker is kept for the time without a connection, as the others.
    chat = chat.replace("<title>", f'<link rel="prefetch" href="{bundler.scripts["js/core/worker.js"]}">\n  <title>')
    test = bundler.document("test.html", "js/test.js")
    return {**files, **bundler.files, "index.html": chat.encode(), "test.html": test.encode()}


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    files = bundled()
    for path, data in files.items():
        target = pathlib.Path(sys.argv[1]) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    print(f"bundle_page: {len(files)} files, {sum(map(len, files.values()))} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
