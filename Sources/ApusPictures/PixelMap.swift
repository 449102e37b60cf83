/// The pixels of a small picture, read from a portable pixmap or graymap.
///
/// Source: Netpbm, `ppm(5)` and `pgm(5)`, the raw forms `P6` and `P5` with one byte per sample.
package struct PixelMap: Hashable, Sendable {
    /// The maximum width and height.
    package static let side = 4_096

    package let width: Int
    package let height: Int
    /// Red, green and blue of each pixel, row by row.
    package let samples: [UInt8]

    /// - Parameter samples: Three samples for each pixel. Returns `nil` for another number of
    ///   samples, and for a width or height that is not from 1 to ``side``.
    package init?(width: Int, height: Int, samples: [UInt8]) {
        guard (1...Self.side).contains(width), (1...Self.side).contains(height), samples.count == width * height * 3 else { return nil }
        self.width = width
        self.height = height
        self.samples = samples
    }

    /// Reads a portable pixmap or graymap. Returns `nil` if the bytes are not of a supported form,
    /// or end early.
    package init?(portable bytes: [UInt8]) {
        var index = 2
        let isGray: Bool
        switch (bytes.first, bytes.dropFirst().first) {
        case (0x50, 0x35): isGray = true
        case (0x50, 0x36): isGray = false
        default: return nil
        }
        /// Reads a number after white space and comments.
        func number() -> Int? {
            while index < bytes.count {
                if bytes[index] == UInt8(ascii: "#") {
                    while index < bytes.count, bytes[index] != 0x0A { index += 1 }
                } else if [0x09, 0x0A, 0x0D, 0x20].contains(bytes[index]) {
                    index += 1
                } else {
                    break
                }
            }
            let digits = bytes[index...].prefix(5).prefix { (0x30...0x39).contains($0) }
            index += digits.count
            return Int(String(decoding: digits, as: UTF8.self))
        }
        guard let width = number(), let height = number(), number() == 255, (1...Self.side).contains(width),
            (1...Self.side).contains(height)
        else { return nil }
        let count = width * height * (isGray ? 1 : 3)
        // One byte of white space follows the largest value.
        guard bytes.count - index - 1 >= count else { return nil }
        let data = bytes[(index + 1)..<(index + 1 + count)]
        self.init(width: width, height: height, samples: isGray ? data.flatMap { [$0, $0, $0] } : Array(data))
    }
}
