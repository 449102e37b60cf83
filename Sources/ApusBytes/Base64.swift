package import NIOCore

/// Base64 with the standard alphabet and padding (RFC 4648 section 4). Decoding is strict.
///
/// Foundation's implementation accepts text that is not canonical, and would make every polled
/// binary message depend on Foundation.
package enum Base64 {
    /// Returns the encoded length of `count` bytes.
    package static func encodedLength(of count: Int) -> Int {
        (count + 2) / 3 * 4
    }

    /// Appends the base64 of `bytes`.
    package static func encode(_ bytes: ByteBuffer, into buffer: inout ByteBuffer) {
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: self.encodedLength(of: bytes.readableBytes)) { output in
            bytes.withUnsafeReadableBytes { input in
                self.encode(input, into: output)
            }
        }
    }

    /// Returns the base64 of `bytes` as a string. Suitable for short data.
    package static func encode(_ bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: self.encodedLength(of: bytes.count)) { text in
            self.encode(bytes, into: UnsafeMutableRawBufferPointer(text))
        }
    }

    /// Returns whether the byte is one of the 64 characters of the alphabet.
    package static func isCharacter(_ byte: UInt8) -> Bool { self.values[Int(byte)] < 64 }

    /// Decodes `text`. Returns nil unless the text is canonical: a length divisible by 4, complete
    /// padding, and zero in unused bits.
    package static func decode(_ text: ByteBuffer) -> ByteBuffer? {
        let length = text.readableBytes
        guard length > 0 else { return ByteBuffer() }
        guard length % 4 == 0 else { return nil }
        var buffer = ByteBuffer()
        let written = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: length / 4 * 3) { output in
            text.withUnsafeReadableBytes { input in
                self.decode(input, into: output) ?? 0
            }
        }
        // Four characters encode at least one byte, so 0 means that they are invalid.
        return written > 0 ? buffer : nil
    }

    private static let alphabet: [UInt8] = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The value of each byte as a base64 character; 0xff if it is not one.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xff, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    private static func encode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int {
        self.alphabet.withUnsafeBufferPointer { alphabet in
            var written = 0
            var index = 0
            while index < input.count {
                let left = input.count - index
                let first = input[index]
                let second = left > 1 ? input[index + 1] : 0
                let third = left > 2 ? input[index + 2] : 0
                output[written] = alphabet[Int(first >> 2)]
                output[written + 1] = alphabet[Int((first & 0x03) << 4 | second >> 4)]
                output[written + 2] = left > 1 ? alphabet[Int((second & 0x0f) << 2 | third >> 6)] : UInt8(ascii: "=")
                output[written + 3] = left > 2 ? alphabet[Int(third & 0x3f)] : UInt8(ascii: "=")
                index += 3
                written += 4
            }
            return written
        }
    }

    /// Decodes `input`, which is not empty and has a length divisible by 4. Returns the number of
    /// bytes written, or nil if the input is not canonical.
    private static func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int? {
        self.values.withUnsafeBufferPointer { values in
            let pad = UInt8(ascii: "=")
            let padding = input[input.count - 1] != pad ? 0 : input[input.count - 2] != pad ? 1 : 2
            var written = 0
            var index = 0
            let wholeEnd = padding == 0 ? input.count : input.count - 4
            while index < wholeEnd {
                let a = values[Int(input[index])]
                let b = values[Int(input[index + 1])]
                let c = values[Int(input[index + 2])]
                let d = values[Int(input[index + 3])]
                guard (a | b | c | d) < 64 else { return nil }
                output[written] = a << 2 | b >> 4
                output[written + 1] = b << 4 | c >> 2
                output[written + 2] = c << 6 | d
                index += 4
                written += 3
            }
            guard padding > 0 else { return written }
            let a = values[Int(input[index])]
            let b = values[Int(input[index + 1])]
            let c = padding == 1 ? values[Int(input[index + 2])] : 0
            // Unused bits must be zero, so that each byte sequence has a single encoding.
            guard (a | b | c) < 64, padding == 1 ? c & 0x03 == 0 : b & 0x0f == 0 else { return nil }
            output[written] = a << 2 | b >> 4
            if padding == 1 { output[written + 1] = b << 4 | c >> 2 }
            return written + 3 - padding
        }
    }
}
