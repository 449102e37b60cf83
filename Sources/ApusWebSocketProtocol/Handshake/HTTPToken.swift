/// The tokens of HTTP.
///
/// Source: RFC 9110 section 5.6.2.
package enum HTTPToken {
    /// Returns whether a byte is allowed in a token.
    package static func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"),
            UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "_"),
            UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Returns whether a text is a token.
    package static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(Self.contains) }
}

/// The value of `Host`.
///
/// Source: RFC 9112 section 3.2, RFC 3986 section 3.2.2.
package enum HTTPHost {
    /// Returns whether a byte is allowed in `uri-host [ ":" port ]`.
    @inlinable
    package static func contains(_ byte: UInt8) -> Bool {
        switch byte {
        // In this order: `!`, `$` to `.`, `0` to `;`, `=`, `A` to `[`, `]`, `_`, `a` to `z`, `~`.
        case 0x21, 0x24...0x2E, 0x30...0x3B, 0x3D, 0x41...0x5B, 0x5D, 0x5F, 0x61...0x7A, 0x7E: true
        default: false
        }
    }
}
