/// Finds the title and the `meta` elements in the head of a page. Malformed markup is skipped.
///
/// Follows the tokenization of HTML (WHATWG, 13.2.5) as far as titles and attributes require it.
/// Each byte is examined once: an element without an end is read to the end of the page, and the
/// search is not repeated.
struct HeadReader {
    private let bytes: [UInt8]
    private var index = 0
    private var title: String?
    private var values: [String: String] = [:]

    /// The maximum length of a value, in bytes. The rest is ignored.
    private static let valueBytes = 8_000
    /// The maximum number of `meta` elements that are kept.
    private static let maximumValues = 200

    init(_ text: String) { self.bytes = Array(text.utf8) }

    /// Returns the text of the first `title`, and the first value for each name of the `meta`
    /// elements. The names are in lower case.
    mutating func read() -> (title: String?, values: [String: String]) {
        while let start = self.bytes[self.index...].firstIndex(of: UInt8(ascii: "<")) {
            self.index = start + 1
            guard self.readMarkup() else { break }
        }
        return (self.title, self.values)
    }

    /// Reads the markup after a `<`. Returns whether the head continues.
    private mutating func readMarkup() -> Bool {
        switch self.current {
        case UInt8(ascii: "!"):
            if self.matches("!--") { self.skip(past: "-->", from: self.index + 1) } else { self.skip(past: ">", from: self.index) }
        case UInt8(ascii: "/"):
            self.index += 1
            if self.readName() == "head" { return false }
            self.skip(past: ">", from: self.index)
        case let byte? where self.isLetter(byte): return self.readElement()
        default: break
        }
        return true
    }

    private mutating func readElement() -> Bool {
        let name = self.readName()
        let attributes = self.readAttributes(isKept: name == "meta")
        switch name {
        case "body": return false
        case "title":
            let text = self.readText(until: "title")
            self.title = self.title ?? text
        case "script", "style", "noscript", "template", "svg", "textarea", "xmp", "iframe": _ = self.readText(until: name)
        case "meta":
            guard let key = attributes["property"] ?? attributes["name"], let value = attributes["content"],
                self.values.count < Self.maximumValues
            else { break }
            let name = key.lowercased()
            if self.values[name] == nil { self.values[name] = value }
        default: break
        }
        return true
    }

    // MARK: Parts

    private var current: UInt8? { self.index < self.bytes.count ? self.bytes[self.index] : nil }

    private mutating func readName() -> String {
        let start = self.index
        while let byte = self.current, !self.isSpace(byte), byte != UInt8(ascii: ">"), byte != UInt8(ascii: "/") { self.index += 1 }
        return String(decoding: self.bytes[start..<min(self.index, start + 32)], as: UTF8.self).lowercased()
    }

    /// Reads up to the end of a tag. Returns the first value of each attribute, if `isKept` is
    /// true.
    private mutating func readAttributes(isKept: Bool) -> [String: String] {
        var attributes: [String: String] = [:]
        while let byte = self.current {
            if byte == UInt8(ascii: ">") {
                self.index += 1
                break
            }
            if self.isSpace(byte) || byte == UInt8(ascii: "/") {
                self.index += 1
                continue
            }
            let start = self.index
            // A name may begin with "=".
            self.index += 1
            while let byte = self.current, !self.isSpace(byte), !"=>/".utf8.contains(byte) { self.index += 1 }
            let name = self.bytes[start..<min(self.index, start + 32)]
            let value = self.readValue()
            guard isKept, attributes.count < 10 else { continue }
            let key = String(decoding: name, as: UTF8.self).lowercased()
            if ["property", "name", "content"].contains(key), attributes[key] == nil {
                attributes[key] = String(decoding: value.prefix(Self.valueBytes), as: UTF8.self)
            }
        }
        return attributes
    }

    private mutating func readValue() -> ArraySlice<UInt8> {
        self.skipSpaces()
        guard self.current == UInt8(ascii: "=") else { return [] }
        self.index += 1
        self.skipSpaces()
        guard let quote = self.current else { return [] }
        if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
            self.index += 1
            let start = self.index
            let end = self.bytes[start...].firstIndex(of: quote) ?? self.bytes.count
            self.index = min(end + 1, self.bytes.count)
            return self.bytes[start..<end]
        }
        let start = self.index
        while let byte = self.current, !self.isSpace(byte), byte != UInt8(ascii: ">") { self.index += 1 }
        return self.bytes[start..<self.index]
    }

    /// Reads text without elements, up to its end tag.
    private mutating func readText(until name: String) -> String {
        let start = self.index
        var end = self.bytes.count
        while let found = self.bytes[self.index...].firstIndex(of: UInt8(ascii: "<")) {
            self.index = found + 1
            guard self.matches("/" + name) else { continue }
            let after = found + 2 + name.utf8.count
            guard after >= self.bytes.count || self.isSpace(self.bytes[after]) || ">/".utf8.contains(self.bytes[after]) else { continue }
            end = found
            self.skip(past: ">", from: after)
            break
        }
        if end == self.bytes.count { self.index = end }
        return String(decoding: self.bytes[start..<end].prefix(Self.valueBytes), as: UTF8.self)
    }

    /// Returns whether the bytes at the current position match a text, ignoring letter case.
    private func matches(_ text: String) -> Bool {
        guard self.index + text.utf8.count <= self.bytes.count else { return false }
        return zip(self.bytes[self.index...], text.utf8).allSatisfy { $0 == $1 || (self.isLetter($0) && $0 | 0x20 == $1) }
    }

    private mutating func skip(past text: String, from start: Int) {
        let pattern = Array(text.utf8)
        self.index = min(start, self.bytes.count)
        while self.index < self.bytes.count {
            guard let found = self.bytes[self.index...].firstIndex(of: pattern[0]) else { break }
            self.index = found
            if self.matches(text) {
                self.index += pattern.count
                return
            }
            self.index += 1
        }
        self.index = self.bytes.count
    }

    private mutating func skipSpaces() { while let byte = self.current, self.isSpace(byte) { self.index += 1 } }

    private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
