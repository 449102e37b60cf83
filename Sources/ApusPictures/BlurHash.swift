import Foundation

/// The text from which clients draw a blurred form of a picture while it loads.
///
/// Source: https://github.com/woltapp/blurhash, `Algorithm.md`.
package enum BlurHash {
    private static let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)

    /// Returns the BlurHash of a picture, with four components along its longer side and three
    /// along the other.
    ///
    /// The running time is linear in the number of pixels: pass a picture of at most 64 × 64.
    package static func text(of picture: PixelMap) -> String {
        let (columns, rows) = picture.width >= picture.height ? (4, 3) : (3, 4)
        let factors = self.factors(of: picture, columns, rows)
        let largest = factors.dropFirst().reduce(0) { max($0, abs($1.red), abs($1.green), abs($1.blue)) }
        let level = max(0, min(82, Int(largest * 166 - 0.5)))
        let maximum = Double(level + 1) / 166
        var text = self.encoded(columns - 1 + (rows - 1) * 9, 1) + self.encoded(level, 1)
        for (index, factor) in factors.enumerated() {
            text +=
                index == 0
                ? self.encoded(self.byte(factor.red) << 16 | self.byte(factor.green) << 8 | self.byte(factor.blue), 4)
                : self.encoded(
                    (self.step(factor.red / maximum) * 19 + self.step(factor.green / maximum)) * 19 + self.step(factor.blue / maximum), 2)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private typealias Color = (red: Double, green: Double, blue: Double)

    /// Returns the components of the discrete cosine transform, in linear light.
    private static func factors(of picture: PixelMap, _ columns: Int, _ rows: Int) -> [Color] {
        let linear = picture.samples.map { self.linear[Int($0)] }
        var factors: [Color] = []
        for row in 0..<rows {
            for column in 0..<columns {
                let across = (0..<picture.width).map { cos(.pi * Double(column * $0) / Double(picture.width)) }
                var sum: Color = (0, 0, 0)
                for y in 0..<picture.height {
                    let down = cos(.pi * Double(row * y) / Double(picture.height))
                    for x in 0..<picture.width {
                        let (basis, index) = (across[x] * down, (y * picture.width + x) * 3)
                        sum.red += basis * linear[index]
                        sum.green += basis * linear[index + 1]
                        sum.blue += basis * linear[index + 2]
                    }
                }
                let scale = (row == 0 && column == 0 ? 1 : 2) / Double(picture.width * picture.height)
                factors.append((sum.red * scale, sum.green * scale, sum.blue * scale))
            }
        }
        return factors
    }

    /// The linear value of each sRGB sample.
    private static let linear: [Double] = (0...255).map { sample in
        let value = Double(sample) / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    /// Returns the sRGB sample of a linear value.
    private static func byte(_ value: Double) -> Int {
        let value = max(0, min(1, value))
        return Int((value <= 0.003_130_8 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055) * 255 + 0.5)
    }

    /// Returns one of the 19 steps of a component, from -1 to 1.
    private static func step(_ value: Double) -> Int {
        let root = value < 0 ? -(-value).squareRoot() : value.squareRoot()
        return max(0, min(18, Int((root * 9 + 9.5).rounded(.down))))
    }

    private static func encoded(_ number: Int, _ length: Int) -> [UInt8] {
        var rest = number
        var text: [UInt8] = []
        for _ in 0..<length {
            text.append(self.digits[rest % 83])
            rest /= 83
        }
        return text.reversed()
    }
}
