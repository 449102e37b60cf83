/// The well-formedness of UTF-8, without making a `String`.
///
/// Source: The Unicode Standard, table 3-7. (The standard library's check needs macOS 15.)
enum UTF8Validation {
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        let count = bytes.count
        while index < count {
            // Eight ASCII bytes at a time: most of a payload is ASCII.
            if count - index >= 8, bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
                index += 8
                continue
            }
            let first = bytes[index]
            index += 1
            let continuations: Int
            var secondRange: ClosedRange<UInt8> = 0x80...0xbf
            switch first {
            case 0x00...0x7f: continue
            case 0xc2...0xdf: continuations = 1
            case 0xe0: (continuations, secondRange) = (2, 0xa0...0xbf)
            case 0xed: (continuations, secondRange) = (2, 0x80...0x9f)  // no surrogates
            case 0xe1...0xef: continuations = 2
            case 0xf0: (continuations, secondRange) = (3, 0x90...0xbf)
            case 0xf1...0xf3: continuations = 3
            case 0xf4: (continuations, secondRange) = (3, 0x80...0x8f)  // nothing above U+10FFFF
            default: return false
            }
            guard count - index >= continuations, secondRange.contains(bytes[index]) else { return false }
            for offset in 1..<max(continuations, 1) where bytes[index + offset] & 0xc0 != 0x80 { return false }
            index += continuations
        }
        return true
    }
}
