/// The address of a page: an absolute URL with the scheme http or https.
///
/// Source: RFC 3986, restricted to addresses that can be requested. User information is not
/// permitted, because it can make readers mistake the host.
package struct PageAddress: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of a URL, in bytes.
    package static let maximumBytes = 2_000

    package let isSecure: Bool
    /// The host in lower case. An IPv6 address has no brackets.
    package let host: String
    package let port: Int
    /// The path and query, percent-encoded.
    package let target: String

    /// The URL without a fragment.
    package var description: String { self.origin + self.target }

    private var origin: String {
        let host = self.host.contains(":") ? "[\(self.host)]" : self.host
        let isDefault = self.port == (self.isSecure ? 443 : 80)
        return (self.isSecure ? "https://" : "http://") + host + (isDefault ? "" : ":\(self.port)")
    }

    /// Parses a URL; `nil` if it is not a permitted address.
    package init?(_ url: some StringProtocol) {
        guard url.utf8.count <= Self.maximumBytes else { return nil }
        let bytes = Array(url.utf8)
        let isSecure = Self.begins(bytes, with: "https://")
        guard isSecure || Self.begins(bytes, with: "http://") else { return nil }
        let start = isSecure ? 8 : 7
        let end = bytes[start...].firstIndex { "/?#\\".utf8.contains($0) } ?? bytes.endIndex
        guard let (host, port) = Self.authority(bytes[start..<end]), let target = Self.target(bytes[end...]) else { return nil }
        self.isSecure = isSecure
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
        self.target = target
    }

    /// Returns the address to which a reference in the page leads (RFC 3986 section 5.2); `nil` for
    /// other schemes. Dot segments are not removed; the server does that.
    package func resolving(_ reference: String) -> PageAddress? {
        let text = String(reference.drop { $0.isWhitespace })
        let scheme = text.utf8.prefix { Self.isSchemeByte($0) }
        if !scheme.isEmpty, text.utf8.dropFirst(scheme.count).first == UInt8(ascii: ":") { return PageAddress(text) }
        if text.hasPrefix("//") { return PageAddress((self.isSecure ? "https:" : "http:") + text) }
        if text.hasPrefix("/") { return PageAddress(self.origin + text) }
        if text.isEmpty || text.hasPrefix("#") { return self }
        let path = self.target.prefix { $0 != "?" }
        if text.hasPrefix("?") { return PageAddress(self.origin + path + text) }
        let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
        return PageAddress(self.origin + folder + text)
    }

    private static func begins(_ bytes: [UInt8], with scheme: String) -> Bool {
        bytes.count > scheme.utf8.count
            && zip(bytes, scheme.utf8).allSatisfy { $0 == $1 || ((0x41...0x5A).contains($0) && $0 | 0x20 == $1) }
    }

    private static func authority(_ bytes: ArraySlice<UInt8>) -> (String, Int?)? {
        var host = bytes
        var digits: ArraySlice<UInt8>?
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = bytes[(bytes.startIndex + 1)..<end]
            guard host.contains(UInt8(ascii: ":")), host.allSatisfy({ self.isHexadecimal($0) || $0 == 0x3A || $0 == 0x2E }) else {
                return nil
            }
            guard end + 1 == bytes.endIndex || bytes[end + 1] == UInt8(ascii: ":") else { return nil }
            digits = end + 1 == bytes.endIndex ? nil : bytes[(end + 2)...]
        } else if let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
            (host, digits) = (bytes[..<colon], bytes[(colon + 1)...])
        }
        let isNumeric = bytes.first == UInt8(ascii: "[")
        guard (1...253).contains(host.count), isNumeric || host.allSatisfy(self.isHostByte) else { return nil }
        let name = String(decoding: host, as: UTF8.self).lowercased()
        guard let digits, !digits.isEmpty else { return (name, nil) }
        guard digits.count <= 5, digits.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(String(decoding: digits, as: UTF8.self)),
            (1...65_535).contains(port)
        else { return nil }
        return (name, port)
    }

    /// Returns the path and query, with characters that are not permitted percent-encoded.
    private static func target(_ bytes: ArraySlice<UInt8>) -> String? {
        var target: [UInt8] = bytes.first == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]
        for byte in bytes.prefix(while: { $0 != UInt8(ascii: "#") }) {
            if byte > 0x20, byte < 0x7F, !"\"<>\\^`{|}".utf8.contains(byte) {
                target.append(byte)
            } else if byte == 0x09 || byte == 0x0A || byte == 0x0D || byte == 0 {
                return nil
            } else {
                target += Array("%".utf8) + [self.hexadecimal(byte >> 4), self.hexadecimal(byte & 15)]
            }
        }
        return target.count <= self.maximumBytes ? String(decoding: target, as: UTF8.self) : nil
    }

    private static func hexadecimal(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

    private static func isHexadecimal(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20) }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x2D || byte == 0x2E || byte == 0x5F
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "+-.".utf8.contains(byte)
    }
}

extension PageAddress {
    /// The characters, in addition to white space, at which a URL in a text ends.
    private static let ends = Set("<>\"'“”‘’，。；！？、（）【】《》".unicodeScalars)

    /// Returns the first URL in a text, without punctuation that belongs to the sentence.
    package static func first(in text: String) -> String? {
        var rest = text[...]
        while let start = self.schemeRange(in: rest) {
            let before = text[..<start.lowerBound].last
            let isWord = before.map { !$0.isASCII || !($0.isLetter || $0.isNumber) } ?? true
            let scalars = rest[start.lowerBound...].unicodeScalars.prefix { !$0.properties.isWhitespace && !self.ends.contains($0) }
            var url = Substring(scalars)
            while let last = url.last, ".,;:!?*_~".contains(last) || self.closesNothing(last, in: url) { url.removeLast() }
            if isWord, PageAddress(url) != nil { return String(url) }
            rest = rest[start.upperBound...]
        }
        return nil
    }

    /// Returns the range of the first "http", in any letter case: keyboards of phones begin a text
    /// with "Http".
    private static func schemeRange(in text: Substring) -> Range<Substring.Index>? {
        let (bytes, scheme) = (text.utf8, Array("http".utf8))
        var start = bytes.startIndex
        while let found = bytes[start...].firstIndex(where: { $0 | 0x20 == scheme[0] }) {
            let part = bytes[found...].prefix(scheme.count)
            if part.elementsEqual(scheme, by: { ($0 | 0x20) == $1 }) { return found..<part.endIndex }
            start = bytes.index(after: found)
        }
        return nil
    }

    /// Returns whether the last character is a closing bracket without an opening one in the URL.
    private static func closesNothing(_ last: Character, in url: Substring) -> Bool {
        let brackets: [Character: Character] = [")": "(", "]": "["]
        guard let opening = brackets[last] else { return false }
        return url.count(where: { $0 == last }) > url.count(where: { $0 == opening })
    }
}
