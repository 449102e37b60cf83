#!/usr/bin/env python3
"""Bundles the pages in `Web/` for a server: few files, with hashes of their content in their names.

    scripts/bundle_page.py FOLDER

The modules that a script imports become one script, and the style sheets one sheet. What it imports later,
by `import("path")`, becomes a script of its own that receives the modules of the scripts that load it. Scripts lose their
comments and their indentation, also within template strings. A file with a hash in its name never changes,
so that it is cached for good. `index.html` and `sw.js` keep their names. The modules have to keep to
`import { names } from "path"` and `export` before a declaration, without cycles.
"""
import collections
import functools
import hashlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "Web"
IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"([^"]+)";\n', re.M)
PASSED_ON = re.compile(r'^export \{([^}]*)\} from "([^"]+)";\n', re.M)
EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.M)
LATER = re.compile(r'\bimport\("([^"]+\.js)"\)')
WORKER = re.compile(r'(?<=new URL\()"([^"]+\.js)"')
COMMENT = re.compile(r"^ *(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/)\n", re.M)  # one that has its lines for itself
TRAILING = re.compile(r"(?<=\S) +// .*$", re.M)  # one after code
INDENTATION = re.compile(r"^ +", re.M)
OTHER = re.compile(r"^(?:import|export) .*", re.M)


# Loads a later script once, and passes it the modules of those that were loaded before it.
LOADER = """const $parts = {}, $loaded = {};
const $later = (path) => $parts[path] ??= import(path).then((part) => part.default({ ...$all(), ...$loaded }), (error) => { delete $parts[path]; throw error; });
const $all = () => ({ $later, $loaded, %s });
"""


class Bundler:
    def __init__(self):
        self.scripts = {}  # path of a first module -> path of its bundle
        self.files = {}

    def script(self, path):
        """Returns the path of the bundle that begins with this module."""
        if path not in self.scripts:
            self.scripts[path] = Script(self, path).add()
        return self.scripts[path]

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


class Script:
    """A script with the modules that its first module imports, and the scripts that it loads later."""

    def __init__(self, bundler, first):
        self.bundler = bundler
        self.first = first
        self.modules = {}  # first module of a script -> its modules
        self.known = {}  # first module of a script -> the modules of those that load it
        self.parts = {}  # first module of a later script -> path of the script
        self.divide(first, [])

    def divide(self, first, known):
        """Finds the modules of a script and of those that it loads later. A module that two of those need becomes one of this script."""
        own, shared = [], [first]
        while shared:
            own += dict.fromkeys(each for path in shared for each in closure(path) if each not in known + own)
            later = dict.fromkeys(target for path in own for target in imports(path, LATER) if target not in known + own)
            counts = collections.Counter(each for target in later for each in reach(target, known + own))
            shared = [path for path, count in counts.items() if count > 1]
        self.modules[first], self.known[first] = own, known
        for target in later:
            self.divide(target, known + own)

    def add(self):
        modules = self.modules[self.first]
        text = "".join(self.module(path, self.first) for path in modules)
        if len(self.modules) > 1:
            text = LOADER % ", ".join(map(constant, modules)) + text
        return self.bundler.add(name(self.first), ".js", text.encode())

    def part(self, first):
        """Returns the path of a later script."""
        if first not in self.parts:
            own = self.modules[first]
            text = "".join(self.module(path, first) for path in own)
            if "$later(" in text:
                text += f"Object.assign($loaded, {{ {', '.join(map(constant, own))} }});\n"
            used = [each for each in ["$later", "$loaded", *map(constant, self.known[first])] if re.search(re.escape(each) + r"\b", text)]
            text = f"export default ({{ {', '.join(used)} }}) => {{\n{text}return {constant(first)};\n}};\n"
            self.parts[first] = self.bundler.add(name(first), ".js", text.encode())
        return self.parts[first]

    def module(self, path, first):
        """Returns a module of the script `first` as the script of a function that returns its exports."""
        text = read(path)
        names = EXPORT.findall(text)

        def imported(match):
            source = constant(resolved(path, match[2]))
            return f"const {{ {match[1].strip().replace(' as ', ': ')} }} = {source};\n" if match[1] else ""

        def passed_on(match):
            names.extend(name.strip() for name in match[1].split(","))
            return f"const {{ {match[1].strip()} }} = {constant(resolved(path, match[2]))};\n"

        def later(match):
            target = resolved(path, match[1])
            if target in self.known[first] + self.modules[first]:
                return f"Promise.resolve({constant(target)})"
            return f'$later("./{self.part(target).removeprefix("js/")}")'

        text = EXPORT.sub("", IMPORT.sub(imported, PASSED_ON.sub(passed_on, text)))
        text = LATER.sub(later, text)
        text = WORKER.sub(lambda match: f'"./{self.bundler.script(resolved(path, match[1])).removeprefix("js/")}"', text)
        if found := OTHER.search(text):
            raise SystemExit(f"bundle_page: error: {path}: cannot bundle: {found[0]}")
        text = INDENTATION.sub("", without_trailing_comments(COMMENT.sub("", text)))
        return f"const {constant(path)} = (() => {{\n{text}return {{ {', '.join(names)} }};\n}})();\n"


def imports(path, *patterns):
    """Returns the modules that a module names in its imports of these forms."""
    text = read(path)
    return [resolved(path, match[match.re.groups]) for pattern in patterns for match in pattern.finditer(text)]


def closure(path, above=()):
    """Returns the module and what it imports, in the order in which they are evaluated."""
    if path in above:
        raise SystemExit(f"bundle_page: error: a cycle of imports: {' -> '.join([*above, path])}")
    found = {}
    for target in imports(path, IMPORT, PASSED_ON):
        found.update(dict.fromkeys(closure(target, (*above, path))))
    return [*found, path]


def reach(path, known):
    """Returns the modules that a script with this first module needs in addition to the known ones, also those that it loads later."""
    found, waiting = [], [path]
    while waiting:
        added = [each for each in closure(waiting.pop()) if each not in known + found]
        found += added
        waiting += [target for each in added for target in imports(each, LATER) if target not in known + found]
    return found


def name(path):
    """The path of a script without its hash."""
    return "js/" + path.removesuffix(".js").replace("js/", "").replace("/", "-")


def without_trailing_comments(text):
    def removed(match):
        before = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        return match[0] if any(before.count(quote) % 2 for quote in "\"'`") else ""  # within a string

    return TRAILING.sub(removed, text)


@functools.cache
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
    """Returns the files of the pages: path -> bytes. `sample.html`, which needs no server, is for the development of the page only."""
    bundler = Bundler()
    others = [path for folder in ("", "img/") for path in sorted((PAGE / folder).iterdir()) if path.is_file()]
    files = {path.relative_to(PAGE).as_posix(): path.read_bytes() for path in others if not path.name.startswith(".") and path.name != "sample.html"}
    chat = bundler.document("index.html", "js/main.js")
    # Named here, the scripts that the page loads later are kept by the service worker, as the others.
    kept = [f'<meta name="later" content="{path}">' for path in sorted(bundler.files) if path.startswith(("js/core-worker", "js/views-", "js/i18n-"))]
    chat = chat.replace("<title>", "\n  ".join([*kept, "<title>"]))
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
