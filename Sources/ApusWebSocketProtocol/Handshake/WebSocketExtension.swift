/// One element of `Sec-WebSocket-Extensions`: `name; parameter; parameter=value`.
///
/// Source: RFC 6455 section 9.1, RFC 7230 sections 3.2.6 (tokens, quoted strings) and 7 (lists).
struct WebSocketExtension: Equatable {
    /// The maximum number of elements and parameters.
    private static let maximumItems = 64

    var name: String
    var parameters: [(name: String, value: String?)] = []

    static func == (left: Self, right: Self) -> Bool {
        left.name == right.name && left.parameters.elementsEqual(right.parameters) { $0.name == $1.name && $0.value == $1.value }
    }

    /// Parses all values of the field, in order. Throws for a malformed value, which fails the
    /// handshake (RFC 6455 section 9.1).
    static func parse(_ values: [String]) throws(WebSocketError) -> [Self] {
        var elements: [Self] = []
        var items = 0
        for value in values {
            var reader = Reader(bytes: Array(value.utf8))
            repeat {
                reader.skipSpace()
                if reader.isAtEnd || reader.peek == UInt8(ascii: ",") { continue }  // empty list elements are ignored
                var element = Self(name: try reader.token())
                reader.skipSpace()
                while reader.take(";") {
                    element.parameters.append(try reader.parameter())
                    reader.skipSpace()
                    items += 1
                }
                elements.append(element)
                items += 1
                guard items <= Self.maximumItems else {
                    throw Self.refuse("it has more than \(Self.maximumItems) extensions and parameters")
                }
                guard reader.isAtEnd || reader.peek == UInt8(ascii: ",") else {
                    throw Self.refuse("\(element.name) is followed by unexpected text")
                }
            } while reader.take(",")
        }
        return elements
    }

    fileprivate static func refuse(_ what: String) -> WebSocketError {
        WebSocketError(.malformedHandshake, message: "Sec-WebSocket-Extensions is malformed: \(what)")
    }
}

/// Parses bytes in a single pass.
private struct Reader {
    let bytes: [UInt8]
    var index = 0

    var isAtEnd: Bool { self.index == self.bytes.count }
    var peek: UInt8? { self.isAtEnd ? nil : self.bytes[self.index] }

    mutating func skipSpace() {
        while let byte = self.peek, byte == 0x20 || byte == 0x09 { self.index += 1 }
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard self.peek == UInt8(ascii: character) else { return false }
        self.index += 1
        return true
    }

    mutating func token() throws(WebSocketError) -> String {
        let start = self.index
        while let byte = self.peek, HTTPToken.contains(byte) { self.index += 1 }
        guard self.index > start else { throw WebSocketExtension.refuse("the name of an extension or parameter is missing") }
        return String(decoding: self.bytes[start..<self.index], as: UTF8.self)
    }

    mutating func parameter() throws(WebSocketError) -> (name: String, value: String?) {
        self.skipSpace()
        let name = try self.token()
        self.skipSpace()
        guard self.take("=") else { return (name, nil) }
        self.skipSpace()
        guard self.take("\"") else { return (name, try self.token()) }
        // "the value after quoted-string unescaping MUST conform to the 'token' ABNF"
        var value: [UInt8] = []
        while let byte = self.peek, byte != UInt8(ascii: "\"") {
            self.index += 1
            var byte = byte
            if byte == UInt8(ascii: "\\") {
                guard let escaped = self.peek else { break }
                self.index += 1
                byte = escaped
            }
            guard HTTPToken.contains(byte) else { throw WebSocketExtension.refuse("the value of \(name) is not a token") }
            value.append(byte)
        }
        guard self.take("\""), !value.isEmpty else { throw WebSocketExtension.refuse("the value of \(name) is empty or not terminated") }
        return (name, String(decoding: value, as: UTF8.self))
    }
}
