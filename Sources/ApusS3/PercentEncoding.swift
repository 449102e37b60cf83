/// Percent-encodes text as the signature requires: all bytes except letters, digits, `-`, `.`, `_`
/// and `~`.
///
/// Source: AWS, "Signature Version 4 for API requests", the function UriEncode.
enum PercentEncoding {
    /// Returns the encoded text.
    ///
    /// - Parameter keepsSlashes: Whether `/` is kept, as in a path.
    static func text(_ text: String, keepsSlashes: Bool = false) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            case UInt8(ascii: "/") where keepsSlashes: bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
