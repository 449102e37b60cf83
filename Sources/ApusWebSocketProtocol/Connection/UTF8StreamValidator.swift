package import NIOCore

/// Says whether bytes that come in pieces are UTF-8, as soon as it can be said.
///
/// A sequence may be cut anywhere between two pieces. Overlong forms, surrogates and numbers above U+10FFFF are refused.
///
/// Source: RFC 3629 4 (the table of well-formed sequences); RFC 6455 8.1.
package struct UTF8StreamValidator: Sendable {
    /// Continuation bytes the sequence at hand still needs.
    private var missing: UInt8 = 0
    /// What the next continuation byte may be; narrower than 80..BF only right after E0, ED, F0 and F4.
    private var lower: UInt8 = 0x80
    private var upper: UInt8 = 0xBF

    package init() {}

    /// Whether the bytes so far end between two characters.
    package var isComplete: Bool { self.missing == 0 }

    /// Takes the next piece; `false` when it can no longer become UTF-8.
    package mutating func receive(_ bytes: ByteBuffer) -> Bool {
        bytes.withUnsafeReadableBytes { self.receive($0) }
    }

    /// Takes the next piece; `false` when it can no longer become UTF-8.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        let count = bytes.count
        while index < count {
            if self.missing == 0 {
                // ASCII, the common case, eight bytes at a time.
                while count - index >= 8, bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
                    index &+= 8
                }
                guard index < count else { break }
                guard self.begin(bytes[index]) else { return false }
            } else {
                let byte = bytes[index]
                guard self.lower <= byte, byte <= self.upper else { return false }
                self.missing &-= 1
                self.lower = 0x80
                self.upper = 0xBF
            }
            index &+= 1
        }
        return true
    }

    /// The first byte of a sequence.
    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x00...0x7F: break
        case 0xC2...0xDF: self.missing = 1
        case 0xE0:
            self.missing = 2
            self.lower = 0xA0  // below: overlong
        case 0xED:
            self.missing = 2
            self.upper = 0x9F  // above: surrogates
        case 0xE1...0xEF: self.missing = 2
        case 0xF0:
            self.missing = 3
            self.lower = 0x90  // below: overlong
        case 0xF1...0xF3: self.missing = 3
        case 0xF4:
            self.missing = 3
            self.upper = 0x8F  // above: beyond U+10FFFF
        default: return false  // a continuation byte, C0, C1, F5 and above
        }
        return true
    }
}
