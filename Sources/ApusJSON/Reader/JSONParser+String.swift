extension JSONParser {
    /// Reads a string after its opening quote.
    ///
    /// Source: RFC 8259 section 7. A string without escapes is created directly from the input.
    mutating func string() throws(JSONError) -> String {
        let start = self.offset
        if try self.scanRun() == UInt8(ascii: "\"") {
            let text = self.text(from: start)
            self.offset += 1
            return text
        }
        self.unescaped.removeAll(keepingCapacity: true)
        self.keepRun(from: start)
        while true {
            self.keep(try self.escape())
            let run = self.offset
            let stop = try self.scanRun()
            self.keepRun(from: run)
            if stop == UInt8(ascii: "\"") {
                self.offset += 1
                return String(decoding: self.unescaped, as: UTF8.self)
            }
        }
    }

    /// Validates a string after its opening quote, without creating it.
    ///
    /// - Returns: Whether the string has no escapes.
    @discardableResult
    mutating func skipString() throws(JSONError) -> Bool {
        var isPlain = true
        while try self.scanRun() != UInt8(ascii: "\"") {
            isPlain = false
            _ = try self.escape()
        }
        self.offset += 1
        return isPlain
    }

    private func text(from start: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(rebasing: self.bytes[start..<self.offset]), as: UTF8.self)
    }

    private mutating func keepRun(from start: Int) {
        self.unescaped.append(contentsOf: UnsafeRawBufferPointer(rebasing: self.bytes[start..<self.offset]))
    }

    /// Advances to the next quote or backslash and returns it. Validates the bytes before it.
    private mutating func scanRun() throws(JSONError) -> UInt8 {
        while true {
            self.skipPlainWords()
            guard let byte = self.peek else { throw self.unexpected(expected: "the rest of a string") }
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): return byte
            case 0..<0x20: throw self.unexpected(.controlCharacter, expected: "an escaped control character")
            case 0x80...: try self.skipMultiByte()
            default: self.offset += 1
            }
        }
    }

    /// Skips plain ASCII, 32 and then eight bytes at a time, up to the first special byte or near
    /// the end.
    private mutating func skipPlainWords() {
        var offset = self.offset
        while offset <= self.count &- 32,
            self.marks(at: offset) | self.marks(at: offset &+ 8) | self.marks(at: offset &+ 16)
                | self.marks(at: offset &+ 24) == 0
        { offset &+= 32 }
        while offset <= self.count &- 8 {
            let marks = self.marks(at: offset)
            guard marks == 0 else {
                offset &+= marks.trailingZeroBitCount / 8
                break
            }
            offset &+= 8
        }
        self.offset = offset
    }

    /// Marks the special bytes among the next eight. The lowest mark is correct.
    @inline(__always)
    private func marks(at offset: Int) -> UInt64 {
        let word = UInt64(littleEndian: self.bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        return JSONBytes.special(in: word) | (word & JSONBytes.highBits)
    }

    /// Skips multi-byte characters, up to the next ASCII byte.
    ///
    /// Source: RFC 3629 section 4 (the table of `UTF8-octets`): no overlong forms, no surrogates,
    /// nothing above U+10FFFF.
    private mutating func skipMultiByte() throws(JSONError) {
        while let first = self.peek, first >= 0x80 {
            let length: Int
            let second: ClosedRange<UInt8>
            switch first {
            case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
            case 0xE0: (length, second) = (3, 0xA0...0xBF)
            case 0xED: (length, second) = (3, 0x80...0x9F)
            case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
            case 0xF0: (length, second) = (4, 0x90...0xBF)
            case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
            case 0xF4: (length, second) = (4, 0x80...0x8F)
            default: throw self.unexpected(.invalidUTF8, expected: "UTF-8")
            }
            guard self.count - self.offset >= length, second.contains(self.bytes[self.offset + 1]),
                length < 3 || self.bytes[self.offset + 2] & 0xC0 == 0x80, length < 4 || self.bytes[self.offset + 3] & 0xC0 == 0x80
            else { throw self.unexpected(.invalidUTF8, expected: "UTF-8") }
            self.offset += length
        }
    }

    /// Reads an escape, starting at its backslash.
    private mutating func escape() throws(JSONError) -> UInt32 {
        self.offset += 1
        guard let byte = self.peek else { throw self.unexpected(expected: "an escape") }
        let plain: UInt8
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): plain = byte
        case UInt8(ascii: "b"): plain = 0x08
        case UInt8(ascii: "f"): plain = 0x0C
        case UInt8(ascii: "n"): plain = 0x0A
        case UInt8(ascii: "r"): plain = 0x0D
        case UInt8(ascii: "t"): plain = 0x09
        case UInt8(ascii: "u"):
            self.offset += 1
            return try self.unicodeEscape()
        default: throw self.unexpected(.invalidEscape, expected: "an escape")
        }
        self.offset += 1
        return UInt32(plain)
    }

    /// Reads an escape after its `\u`, and the second escape of a surrogate pair (RFC 8259 section
    /// 7).
    private mutating func unicodeEscape() throws(JSONError) -> UInt32 {
        let start = self.offset
        let first = try self.hexDigits()
        guard (0xD800...0xDFFF).contains(first) else { return first }
        if first < 0xDC00, self.peek == UInt8(ascii: "\\"), self.offset + 1 < self.count, self.bytes[self.offset + 1] == UInt8(ascii: "u") {
            let end = self.offset
            self.offset += 2
            let second = try self.hexDigits()
            if (0xDC00...0xDFFF).contains(second) { return 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00) }
            self.offset = end  // a separate escape
        }
        switch self.limits.loneSurrogates {
        case .refuse: throw JSONError(.loneSurrogate, message: "an escape is a surrogate without the other half of its pair", offset: start)
        case .replace: return 0xFFFD
        }
    }

    private mutating func hexDigits() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = self.peek, let digit = JSONBytes.hexDigit(byte) else {
                throw self.unexpected(.invalidEscape, expected: "a hexadecimal digit")
            }
            value = value << 4 | digit
            self.offset += 1
        }
        return value
    }

    private mutating func keep(_ scalar: UInt32) {
        guard scalar >= 0x80 else { return self.unescaped.append(UInt8(truncatingIfNeeded: scalar)) }
        // `unicodeEscape` returns no surrogates, so the fallback is never used.
        self.unescaped.append(contentsOf: String(Unicode.Scalar(scalar) ?? "\u{FFFD}").utf8)
    }
}
