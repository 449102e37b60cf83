package import NIOCore

/// Validates UTF-8 that arrives in pieces, and detects an error as early as possible.
///
/// A sequence may be split anywhere between two pieces. Overlong forms, surrogates and code points
/// above U+10FFFF are invalid. The validation of the standard library requires macOS 15 and the
/// whole text.
///
/// Source: RFC 3629 section 4 and the Unicode Standard, table 3-7 (the well-formed sequences); RFC
/// 6455 section 8.1.
package struct UTF8StreamValidator: Sendable {
    /// The number of continuation bytes that the split sequence still needs.
    private var missing: UInt8 = 0
    /// The range of the next continuation byte: 80..BF, or narrower directly after E0, ED, F0 and
    /// F4.
    private var lower: UInt8 = 0x80
    private var upper: UInt8 = 0xBF

    package init() {}

    /// Returns whether these bytes are complete, valid UTF-8.
    package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var validator = Self()
        return validator.receive(bytes) && validator.isComplete
    }

    /// Returns whether these bytes are complete, valid UTF-8.
    package static func isValid(_ bytes: ByteBuffer) -> Bool {
        bytes.withUnsafeReadableBytes { self.isValid($0) }
    }

    /// Whether the bytes so far end with a complete character.
    package var isComplete: Bool { self.missing == 0 }

    /// Validates the next piece. Returns `false` if the text is invalid.
    package mutating func receive(_ bytes: ByteBuffer) -> Bool {
        bytes.withUnsafeReadableBytes { self.receive($0) }
    }

    /// Validates the next piece. Returns `false` if the text is invalid.
    package mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        let count = bytes.count
        while self.missing > 0, index < count {
            let byte = bytes[index]
            guard self.lower <= byte, byte <= self.upper else { return false }
            self.missing -= 1
            (self.lower, self.upper) = (0x80, 0xBF)
            index += 1
        }
        while index < count {
            // ASCII, the common case, 64 and then sixteen bytes at a time.
            while index <= count &- 64, Self.areASCII(bytes, at: index) { index &+= 64 }
            while index <= count &- 16, Self.isASCII(bytes, at: index) { index &+= 16 }
            guard index < count else { break }
            let length = Self.sequenceLength(bytes, at: index)
            guard length > 0 else {
                guard length == 0 else { return false }
                return self.begin(UnsafeRawBufferPointer(rebasing: bytes[index...]))
            }
            index &+= length
        }
        return true
    }

    /// Returns whether the next 64 bytes are ASCII.
    @inline(__always)
    private static func areASCII(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Bool {
        let first = bytes.loadUnaligned(fromByteOffset: index, as: SIMD4<UInt64>.self)
        let second = bytes.loadUnaligned(fromByteOffset: index &+ 32, as: SIMD4<UInt64>.self)
        let both = first | second
        return (both[0] | both[1] | both[2] | both[3]) & 0x8080_8080_8080_8080 == 0
    }

    /// Returns whether the next sixteen bytes are ASCII.
    @inline(__always)
    private static func isASCII(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Bool {
        let first = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        let second = bytes.loadUnaligned(fromByteOffset: index &+ 8, as: UInt64.self)
        return (first | second) & 0x8080_8080_8080_8080 == 0
    }

    /// Returns the length of the sequence at `index`; 0 if the piece ends within it, -1 if it is
    /// invalid.
    @inline(__always)
    private static func sequenceLength(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Int {
        let first = bytes[index]
        let left = bytes.count &- index
        switch first {
        case 0x00...0x7F: return 1
        case 0xC2...0xDF:
            guard left >= 2 else { return 0 }
            return bytes[index &+ 1] & 0xC0 == 0x80 ? 2 : -1
        case 0xE0...0xEF:
            guard left >= 3 else { return 0 }
            let second = bytes[index &+ 1]
            guard second & 0xC0 == 0x80, bytes[index &+ 2] & 0xC0 == 0x80 else { return -1 }
            if first == 0xE0, second < 0xA0 { return -1 }  // overlong
            if first == 0xED, second > 0x9F { return -1 }  // a surrogate
            return 3
        case 0xF0...0xF4:
            guard left >= 4 else { return 0 }
            let second = bytes[index &+ 1]
            guard second & 0xC0 == 0x80, bytes[index &+ 2] & 0xC0 == 0x80, bytes[index &+ 3] & 0xC0 == 0x80 else { return -1 }
            if first == 0xF0, second < 0x90 { return -1 }  // overlong
            if first == 0xF4, second > 0x8F { return -1 }  // beyond U+10FFFF
            return 4
        default: return -1  // a continuation byte, C0, C1, F5 and above
        }
    }

    /// Starts a sequence that is split at the end of the piece.
    private mutating func begin(_ start: UnsafeRawBufferPointer) -> Bool {
        guard let first = start.first, let sequence = Self.sequence(first) else { return false }
        (self.missing, self.lower, self.upper) = sequence
        return self.receive(UnsafeRawBufferPointer(rebasing: start.dropFirst()))
    }

    /// Returns the number of continuation bytes after the first byte of a multi-byte sequence, and
    /// the range of the second byte. Returns nil for ASCII and for an invalid first byte: a
    /// continuation byte, C0, C1, F5 and above.
    private static func sequence(_ first: UInt8) -> (continuations: UInt8, lower: UInt8, upper: UInt8)? {
        switch first {
        case 0xC2...0xDF: (1, 0x80, 0xBF)
        case 0xE0: (2, 0xA0, 0xBF)  // a lower byte is overlong
        case 0xED: (2, 0x80, 0x9F)  // a higher byte encodes a surrogate
        case 0xE1...0xEF: (2, 0x80, 0xBF)
        case 0xF0: (3, 0x90, 0xBF)  // a lower byte is overlong
        case 0xF1...0xF3: (3, 0x80, 0xBF)
        case 0xF4: (3, 0x80, 0x8F)  // a higher byte is beyond U+10FFFF
        default: nil
        }
    }
}

extension String {
    /// Creates a string from these bytes; nil if they are not valid UTF-8. (`String(decoding:as:)`
    /// replaces invalid bytes.)
    package init?(utf8 bytes: UnsafeRawBufferPointer) {
        guard UTF8StreamValidator.isValid(bytes) else { return nil }
        self.init(decoding: bytes, as: UTF8.self)
    }
}
