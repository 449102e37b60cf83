package import NIOCore

/// Says whether bytes that come in pieces are UTF-8, as soon as it can be said.
///
/// A sequence may be cut anywhere between two pieces. Overlong forms, surrogates and numbers above U+10FFFF are refused. Own code: the standard
/// library's check needs macOS 15 and the whole text.
///
/// Source: RFC 3629 4 and the Unicode Standard, table 3-7 (the well-formed sequences); RFC 6455 8.1.
package struct UTF8StreamValidator: Sendable {
    /// Continuation bytes the sequence that was cut still needs.
    private var missing = 0
    /// What the next continuation byte may be; narrower than 80..BF only right after E0, ED, F0 and F4.
    private var lower: UInt8 = 0x80
    private var upper: UInt8 = 0xBF

    package init() {}

    /// Whether these bytes are UTF-8, all of them.
    package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var validator = Self()
        return validator.receive(bytes) && validator.isComplete
    }

    /// Whether these bytes are UTF-8, all of them.
    package static func isValid(_ bytes: ByteBuffer) -> Bool {
        bytes.withUnsafeReadableBytes { self.isValid($0) }
    }

    /// Whether the bytes so far end between two characters.
    package var isComplete: Bool { self.missing == 0 }

    /// Takes the next piece; `false` when it can no longer become UTF-8.
    package mutating func receive(_ bytes: ByteBuffer) -> Bool {
        bytes.withUnsafeReadableBytes { self.receive($0) }
    }

    /// Takes the next piece; `false` when it can no longer become UTF-8.
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
            // ASCII, the common case, eight bytes at a time.
            if count - index >= 8, bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
                index += 8
                continue
            }
            let first = bytes[index]
            index += 1
            if first < 0x80 { continue }
            guard let sequence = Self.sequence(first) else { return false }
            let there = min(sequence.continuations, count - index)
            if there > 0 {
                guard sequence.lower <= bytes[index], bytes[index] <= sequence.upper else { return false }
                for offset in 1..<max(there, 1) where bytes[index + offset] & 0xC0 != 0x80 { return false }
            }
            index += there
            guard there < sequence.continuations else { continue }
            // Cut by the end of the piece.
            self.missing = sequence.continuations - there
            if there == 0 { (self.lower, self.upper) = (sequence.lower, sequence.upper) }
        }
        return true
    }

    /// What follows the first byte of a longer sequence: how many bytes, and what the next of them may be. Nil for what begins none: a
    /// continuation byte, C0, C1, F5 and above.
    private static func sequence(_ first: UInt8) -> (continuations: Int, lower: UInt8, upper: UInt8)? {
        switch first {
        case 0xC2...0xDF: (1, 0x80, 0xBF)
        case 0xE0: (2, 0xA0, 0xBF)  // below: overlong
        case 0xED: (2, 0x80, 0x9F)  // above: surrogates
        case 0xE1...0xEF: (2, 0x80, 0xBF)
        case 0xF0: (3, 0x90, 0xBF)  // below: overlong
        case 0xF1...0xF3: (3, 0x80, 0xBF)
        case 0xF4: (3, 0x80, 0x8F)  // above: beyond U+10FFFF
        default: nil
        }
    }
}

extension String {
    /// The text of these bytes; nil when they are not UTF-8. (`String(decoding:as:)` repairs them instead.)
    package init?(utf8 bytes: UnsafeRawBufferPointer) {
        guard UTF8StreamValidator.isValid(bytes) else { return nil }
        self.init(decoding: bytes, as: UTF8.self)
    }
}
