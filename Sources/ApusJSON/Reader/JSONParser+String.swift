extension JSONParser {
    /// Reads a string whose opening quote has been read.
    ///
    /// Source: RFC 8259 section 7. A string without escapes is made straight from the input.
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

    /// Checks a string whose opening quote has been read, and makes none.
    ///
    /// - Returns: Whether it has no escapes.
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

    /// Moves to the next quote or backslash and returns it; checks the bytes on the way.
    private mutating func scanRun() throws(JSONError) -> UInt8 {
        while true {
            self.skipPlainWords()
            guard let byte = self.peek else { throw self.unexpected(expected: "the rest of a string") }
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): return byte
            case 0..<0x20: throw self.unexpected(.controlCharacter, expected: "its escape")
            case 0x80...: try self.skipMultiByte()
            default: self.offset += 1
            }
        }
    }

    /// Skips ASCII that needs no attention, 32 and then eight bytes at a time, and stops at the first that does (or near the end).
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

    /// What needs attention among the eight bytes from here on: the lowest mark is right.
    @inline(__always)
    private func marks(at offset: Int) -> UInt64 {
        let word = UInt64(littleEndian: self.bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        return JSONBytes.special(in: word) | (word & JSONBytes.highBits)
    }

    /// Skips characters of several bytes, up to the next ASCII byte.
    ///
    /// Source: RFC 3629 section 4 (the table of `UTF8-octets`): no overlong forms, no surrogates, nothing above U+10FFFF.
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

    /// Reads an escape, from its backslash on.
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

    /// Reads what follows `\u`, and a second escape when both are a surrogate pair (RFC 8259 section 7).
    private mutating func unicodeEscape() throws(JSONError) -> UInt32 {
        let start = self.offset
        let first = try self.hexDigits()
        guard (0xD800...0xDFFF).contains(first) else { return first }
        if first < 0xDC00, self.peek == UInt8(ascii: "\\"), self.offset + 1 < self.count, self.bytes[self.offset + 1] == UInt8(ascii: "u") {
            let end = self.offset
            self.offset += 2
            let second = try self.hexDigits()
            if (0xDC00...0xDFFF).contains(second) { return 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00) }
            self.offset = end  // an escape of its own
        }
        switch self.limits.loneSurrogates {
        case .refuse: throw JSONError(.loneSurrogate, message: "half of a surrogate pair without the other", offset: start)
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
        // `unicodeEscape` lets no surrogate out, so this never is the replacement character by accident.
        self.unescaped.append(contentsOf: String(Unicode.Scalar(scalar) ?? "\u{FFFD}").utf8)
    }
}
