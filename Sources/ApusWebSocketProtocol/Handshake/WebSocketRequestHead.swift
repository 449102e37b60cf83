import ApusBytes
package import HTTPTypes
package import NIOCore

/// A fast parser for the head of a WebSocket request that every HTTP parser reads in the same way.
///
/// It refuses no request: for an unusual, invalid or incomplete head, it returns `nil`, and a full
/// HTTP parser then reads the same bytes. It accepts one `GET` without a body and without bytes
/// after the head, with one `Host`, and with fields of printable ASCII in lines that end with CR
/// LF.
///
/// Source: RFC 9112 sections 2.1 to 5, in the strictest reading; RFC 6455 section 4.1.
package struct WebSocketRequestHead {
    /// The maximum length of a head, in bytes. A longer head is left to the full parser.
    package static let maximumBytes = 16 << 10

    private struct Line {
        let name: Range<Int>
        let value: Range<Int>
    }

    private let bytes: UnsafeRawBufferPointer
    private var index = 0

    private init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Parses the request in `buffer`, which must be the whole readable content.
    ///
    /// - Parameters:
    ///   - buffer: The bytes that the client has sent so far.
    ///   - isSecure: Whether the bytes were received over TLS.
    ///   - limits: The limits of the header fields. A head that may exceed them is left to the full
    ///     parser.
    package static func request(in buffer: ByteBuffer, isSecure: Bool, limits: WebSocketLimits) -> HTTPRequest? {
        guard buffer.readableBytes <= min(Self.maximumBytes, limits.maximumHeaderBytes) else { return nil }
        return buffer.withUnsafeReadableBytes { bytes in
            var head = WebSocketRequestHead(bytes)
            return head.request(isSecure: isSecure, maximumFields: limits.maximumHeaderFields)
        }
    }

    private mutating func request(isSecure: Bool, maximumFields: Int) -> HTTPRequest? {
        guard let target = self.takeRequestLine() else { return nil }
        var lines: [Line] = []
        lines.reserveCapacity(16)
        while !self.take("\r\n") {
            guard let line = self.takeField(), lines.count < maximumFields else { return nil }
            lines.append(line)
        }
        // Bytes after the head are left to the full parser. A client should not send them before
        // the response.
        guard self.index == self.bytes.count else { return nil }

        var host: Range<Int>?
        var asksForWebSocket = false
        for line in lines {
            if self.name(line, is: "host") {
                guard host == nil, self.bytes[line.value].allSatisfy(HTTPHost.contains) else { return nil }
                host = line.value
            } else if self.name(line, is: "upgrade") {
                asksForWebSocket = self.matches(line.value, "websocket")
            } else if self.name(line, is: "content-length") || self.name(line, is: "transfer-encoding") {
                return nil
            }
        }
        guard let host, asksForWebSocket else { return nil }
        var fields = HTTPFields()
        fields.reserveCapacity(lines.count)
        for line in lines where line.value != host {
            guard let name = HTTPField.Name(self.text(line.name)) else { return nil }
            fields.append(HTTPField(name: name, value: self.text(line.value)))
        }
        return HTTPRequest(
            method: .get, scheme: isSecure ? "https" : "http", authority: self.text(host), path: self.text(target), headerFields: fields)
    }

    // MARK: Lines

    /// Parses `GET /path?query HTTP/1.1` and returns the range of the target.
    private mutating func takeRequestLine() -> Range<Int>? {
        guard self.take("GET ") else { return nil }
        let target = self.takeWhile(Self.isOfTarget)
        guard let first = target.first, self.bytes[first] == UInt8(ascii: "/"), self.take(" HTTP/1.1\r\n") else { return nil }
        return target
    }

    /// Parses `Name: value` and the end of the line. A value must not be empty, and must not begin
    /// or end with a space. One space after the colon is permitted.
    private mutating func takeField() -> Line? {
        let name = self.takeWhile(HTTPToken.contains)
        guard !name.isEmpty, self.take(": ") || self.take(":") else { return nil }
        let value = self.takeWhile { (0x20...0x7E).contains($0) }
        guard let first = value.first, let last = value.last, self.bytes[first] != 0x20, self.bytes[last] != 0x20, self.take("\r\n") else {
            return nil
        }
        return Line(name: name, value: value)
    }

    /// Returns whether RFC 3986 allows a byte in a path or a query.
    private static func isOfTarget(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x24...0x3B, UInt8(ascii: "="), 0x3F...0x5A, 0x5F, 0x61...0x7A, UInt8(ascii: "~"): true
        default: false
        }
    }

    // MARK: Bytes

    private mutating func take(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard self.bytes.count - self.index >= length else { return false }
        for offset in 0..<length where self.bytes[self.index + offset] != text.utf8Start[offset] { return false }
        self.index += length
        return true
    }

    private mutating func takeWhile(_ isWanted: (UInt8) -> Bool) -> Range<Int> {
        let start = self.index
        while self.index < self.bytes.count, isWanted(self.bytes[self.index]) { self.index += 1 }
        return start..<self.index
    }

    private func name(_ line: Line, is small: StaticString) -> Bool { self.matches(line.name, small) }

    /// Returns whether the bytes equal a lowercase text, ignoring case.
    private func matches(_ range: Range<Int>, _ small: StaticString) -> Bool {
        guard range.count == small.utf8CodeUnitCount else { return false }
        return range.indices.allSatisfy { index in
            self.bytes[index].asciiLowercased == small.utf8Start[index - range.lowerBound]
        }
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: self.bytes[range], as: UTF8.self) }
}
