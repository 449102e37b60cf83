import ApusConnectivity

/// The header that a proxy sends before the bytes of a connection. It contains the address of the
/// client.
///
/// Source: "The PROXY protocol", versions 1 and 2, section 2
/// (https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt).
struct ProxyProtocolHeader: Hashable, Sendable {
    /// The address of the client; nil for a connection of the proxy itself, such as a health check,
    /// and for a connection that does not use IP.
    var client: IPAddress?

    /// The result of reading the first bytes of a connection.
    enum Reading: Hashable, Sendable {
        /// More bytes are needed.
        case incomplete
        /// A header of `length` bytes.
        case header(ProxyProtocolHeader, length: Int)
        /// The bytes are not a valid header. The text is the reason.
        case invalid(String)
    }

    /// The maximum length of a header of version 1 with its line end, in bytes.
    static let textBytes = 107
    /// The maximum length of the addresses and extensions after the first 16 bytes of version 2.
    /// The protocol permits 65,535 bytes.
    static let extensionBytes = 4_096

    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

    /// Reads the header at the start of `bytes`.
    static func read(_ bytes: some Collection<UInt8>) -> Reading {
        if bytes.starts(with: self.signature) { return self.readBinary(Array(bytes.prefix(16 + self.extensionBytes))) }
        if self.signature.starts(with: bytes) { return .incomplete }
        let start = Array("PROXY ".utf8)
        if bytes.starts(with: start) { return self.readText(Array(bytes.prefix(self.textBytes))) }
        return start.starts(with: bytes) ? .incomplete : .invalid("the connection does not begin with a PROXY header")
    }

    // MARK: Version 1

    private static func readText(_ bytes: [UInt8]) -> Reading {
        guard let end = bytes.firstIndex(of: 0x0A) else {
            return bytes.count < self.textBytes ? .incomplete : .invalid("the PROXY header has no line ending")
        }
        guard bytes[end - 1] == 0x0D else { return .invalid("the PROXY header must end with CR LF") }
        let words = bytes[..<(end - 1)].split(separator: 0x20, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
        guard words.count >= 2 else { return .invalid("the PROXY header has no protocol") }
        let addressBytes: Int
        switch words[1] {
        // The specification requires that the rest of the line is ignored.
        case "UNKNOWN": return .header(Self(client: nil), length: end + 1)
        case "TCP4": addressBytes = 4
        case "TCP6": addressBytes = 16
        default: return .invalid("the PROXY header has an unknown protocol")
        }
        guard words.count == 6, let source = IPAddress(words[2]), let destination = IPAddress(words[3]),
            source.bytes.count == addressBytes, destination.bytes.count == addressBytes, self.isPort(words[4]), self.isPort(words[5])
        else { return .invalid("the PROXY header has no valid addresses and ports") }
        return .header(Self(client: source), length: end + 1)
    }

    /// Returns whether a text is a number from 0 to 65535 without leading zeros.
    private static func isPort(_ text: String) -> Bool {
        (1...5).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt16(text) != nil
            && (text == "0" || !text.hasPrefix("0"))
    }

    // MARK: Version 2

    private static func readBinary(_ bytes: [UInt8]) -> Reading {
        guard bytes.count >= 16 else { return .incomplete }
        guard bytes[12] >> 4 == 2 else { return .invalid("the PROXY header has an unknown version") }
        let length = Int(bytes[14]) << 8 | Int(bytes[15])
        guard length <= self.extensionBytes else { return .invalid("the PROXY header is longer than \(self.extensionBytes) bytes") }
        guard bytes.count >= 16 + length else { return .incomplete }
        let addresses = bytes[16..<16 + length]
        switch bytes[12] & 0x0F {
        case 0: return .header(Self(client: nil), length: 16 + length)
        case 1: break
        default: return .invalid("the PROXY header has an unknown command")
        }
        let addressBytes: Int
        switch bytes[13] {
        // An unspecified address, or a Unix socket.
        case 0x00, 0x31: return .header(Self(client: nil), length: 16 + length)
        case 0x11: addressBytes = 4
        case 0x21: addressBytes = 16
        default: return .invalid("the PROXY header is not for a stream connection")
        }
        // Two addresses and two ports are required. Extensions may follow them.
        guard length >= 2 * addressBytes + 4, let client = IPAddress(bytes: addresses.prefix(addressBytes)) else {
            return .invalid("the PROXY header is too short for its addresses")
        }
        return .header(Self(client: client), length: 16 + length)
    }
}
