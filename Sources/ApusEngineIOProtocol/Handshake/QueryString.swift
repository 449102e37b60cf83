import ApusBytes

/// The decoded fields of a URL's query. A repeated field has its first value.
package struct QueryString: Equatable, Sendable {
    private var list: [Field] = []

    private struct Field: Equatable {
        let name: String
        let value: String
    }

    /// The fields by name.
    package var fields: [String: String] { Dictionary(self.list.map { ($0.name, $0.value) }) { first, _ in first } }

    /// Decodes a query such as `a=1&b=%20x+y`. Ignores fields that are not valid percent-encoded
    /// UTF-8.
    package init(_ query: Substring) {
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let separator = pair.firstIndex(of: UInt8(ascii: "="))
            let name = Self.decode(pair[..<(separator ?? pair.endIndex)])
            let value = Self.decode(separator.map { pair[pair.index(after: $0)...] } ?? pair[pair.endIndex...])
            guard let name, let value, !name.isEmpty else { continue }
            self.list.append(Field(name: name, value: value))
        }
    }

    package init(_ query: String) { self.init(query[...]) }

    package subscript(_ name: String) -> String? { self.list.first { $0.name.hasSameBytes(as: name) }?.value }

    /// Percent-encodes all characters except the unreserved ones (RFC 3986 section 2.3).
    package static func percentEncoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.append(byte)
            default:
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func decode(_ encoded: Substring.UTF8View) -> String? {
        guard encoded.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "%") }) else { return String(Substring(encoded)) }
        var bytes: [UInt8] = []
        var rest = encoded[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.hexDigitValue, let low = rest.popFirst()?.hexDigitValue else { return nil }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.utf8.elementsEqual(bytes) ? text : nil  // invalid UTF-8
    }
}

extension UInt8 {
    fileprivate var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
