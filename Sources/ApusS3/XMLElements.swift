/// The elements of a small XML document with their text, for the responses of an object store.
///
/// Skips attributes, comments and processing instructions. Refuses document type declarations, so
/// that no entity other than the predefined ones exists.
package struct XMLElements: Sendable {
    private static let maximumDepth = 16
    private static let maximumCount = 10_000

    package private(set) var root = ""
    private var texts: [(path: [String], text: String)] = []

    /// Returns `nil` if the bytes are not a document that is well formed in the parts that are
    /// read.
    package init?(_ bytes: [UInt8]) {
        var reader = Reader(bytes: bytes[...])
        var path: [String] = []
        var text = ""
        while let token = reader.next() {
            switch token {
            case .malformed: return nil
            case .text(let piece): text += piece
            case .start(let name, let isEmpty):
                guard path.count < Self.maximumDepth, self.texts.count < Self.maximumCount, !path.isEmpty || self.root.isEmpty else {
                    return nil
                }
                if path.isEmpty { self.root = name }
                text = ""
                if isEmpty { self.texts.append((path + [name], "")) } else { path.append(name) }
            case .end(let name):
                guard path.last == name else { return nil }
                self.texts.append((path, text))
                path.removeLast()
                text = ""
            }
        }
        guard path.isEmpty, !self.root.isEmpty else { return nil }
    }

    /// Returns the text of the first element with this path.
    package func text(of path: String...) -> String? { self.texts.first { $0.path == path }?.text }

    private enum Token { case start(String, isEmpty: Bool), end(String), text(String), malformed }

    private struct Reader {
        var bytes: ArraySlice<UInt8>

        mutating func next() -> Token? {
            while let first = self.bytes.first {
                guard first == UInt8(ascii: "<") else { return self.characters() }
                if self.bytes.starts(with: "<?".utf8) {
                    guard self.skip(past: "?>") else { return .malformed }
                } else if self.bytes.starts(with: "<!--".utf8) {
                    guard self.skip(past: "-->") else { return .malformed }
                } else {
                    return self.tag()
                }
            }
            return nil
        }

        private mutating func skip(past end: String) -> Bool {
            let end = Array(end.utf8)
            while !self.bytes.isEmpty {
                if self.bytes.starts(with: end) {
                    self.bytes = self.bytes.dropFirst(end.count)
                    return true
                }
                self.bytes.removeFirst()
            }
            return false
        }

        private mutating func characters() -> Token {
            let raw = self.bytes.prefix { $0 != UInt8(ascii: "<") }
            self.bytes = self.bytes.dropFirst(raw.count)
            var text = String(decoding: raw, as: UTF8.self)
            guard text.contains("&") else { return .text(text) }
            for (entity, character) in [
                ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#34;", "\""), ("&#x22;", "\""), ("&apos;", "'"), ("&#39;", "'"),
                ("&amp;", "&"),
            ] { text = text.split(separator: entity, omittingEmptySubsequences: false).joined(separator: character) }
            return .text(text)
        }

        private mutating func tag() -> Token {
            guard let end = self.bytes.firstIndex(of: UInt8(ascii: ">")) else { return .malformed }
            var inside = self.bytes[self.bytes.startIndex + 1..<end]
            self.bytes = self.bytes[(end + 1)...]
            let isEnd = inside.first == UInt8(ascii: "/")
            if isEnd { inside = inside.dropFirst() }
            let isEmpty = inside.last == UInt8(ascii: "/")
            let name = inside.prefix { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":"):
                    true
                default: false
                }
            }
            guard !name.isEmpty, !(isEnd && isEmpty) else { return .malformed }
            // Names are compared without the prefix of a namespace.
            let local = String(decoding: name.split(separator: UInt8(ascii: ":")).last ?? [], as: UTF8.self)
            return isEnd ? .end(local) : .start(local, isEmpty: isEmpty)
        }
    }
}
