extension JSONWriter {
    static func append(_ value: Int64, to output: inout JSONOutput) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in  // "-9223372036854775808"
            var start = digits.count
            var rest = value.magnitude
            repeat {
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                start -= 1
                digits.initializeElement(at: start, to: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
                rest = quotient
            } while rest != 0
            if value < 0 {
                start -= 1
                digits.initializeElement(at: start, to: UInt8(ascii: "-"))
            }
            output.append(UnsafeBufferPointer(rebasing: digits[start...]))
        }
    }

    static func append(unquoted string: String, to output: inout JSONOutput) {
        var string = string
        string.withUTF8 { output.append($0) }
    }

    static func append(quoted string: String, to output: inout JSONOutput) {
        output.append(UInt8(ascii: "\""))
        var string = string
        string.withUTF8 { text in
            var run = 0
            var next = Self.firstSpecial(in: text, from: 0)
            while next < text.count {
                output.append(UnsafeBufferPointer(rebasing: text[run..<next]))
                Self.append(escaped: text[next], to: &output)
                run = next + 1
                next = Self.firstSpecial(in: text, from: run)
            }
            output.append(UnsafeBufferPointer(rebasing: text[run..<text.count]))
        }
        output.append(UInt8(ascii: "\""))
    }

    /// Returns the index of the first byte that must be escaped, or the count.
    private static func firstSpecial(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        let words = UnsafeRawBufferPointer(text)
        var offset = start
        while offset &+ 8 <= words.count {
            let word = UInt64(littleEndian: words.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let special = JSONBytes.special(in: word)
            if special != 0 { return offset &+ special.trailingZeroBitCount / 8 }
            offset &+= 8
        }
        while offset < text.count {
            let byte = text[offset]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return offset }
            offset &+= 1
        }
        return offset
    }

    /// Appends an escape (RFC 8259 section 7): the short escape if there is one, or `\u00XX`.
    private static func append(escaped byte: UInt8, to output: inout JSONOutput) {
        output.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: output.append(UInt8(ascii: "b"))
        case 0x09: output.append(UInt8(ascii: "t"))
        case 0x0A: output.append(UInt8(ascii: "n"))
        case 0x0C: output.append(UInt8(ascii: "f"))
        case 0x0D: output.append(UInt8(ascii: "r"))
        case 0..<0x20:
            let low = byte & 0x0F
            output.append(byte < 0x10 ? "u000" : "u001")
            output.append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
        default: output.append(byte)  // the quote and the backslash
        }
    }

    static func append(base64 data: [UInt8], to output: inout JSONOutput) {
        func letter(_ sixBits: UInt32) -> UInt8 {
            switch UInt8(truncatingIfNeeded: sixBits & 0x3F) {
            case let value where value < 26: UInt8(ascii: "A") + value
            case let value where value < 52: UInt8(ascii: "a") + value - 26
            case let value where value < 62: UInt8(ascii: "0") + value - 52
            case 62: UInt8(ascii: "+")
            default: UInt8(ascii: "/")
            }
        }
        output.append(UInt8(ascii: "\""))
        for start in stride(from: 0, to: data.count, by: 3) {
            let group = data[start..<min(start + 3, data.count)]
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            bits <<= UInt32(3 - group.count) * 8
            output.append(letter(bits >> 18))
            output.append(letter(bits >> 12))
            output.append(group.count > 1 ? letter(bits >> 6) : UInt8(ascii: "="))
            output.append(group.count > 2 ? letter(bits) : UInt8(ascii: "="))
        }
        output.append(UInt8(ascii: "\""))
    }
}
