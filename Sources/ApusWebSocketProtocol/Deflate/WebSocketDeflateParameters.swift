/// The four parameters of permessage-deflate in an offer or a response.
///
/// Source: RFC 7692 section 7.1.
package struct WebSocketDeflateParameters: Hashable, Sendable {
    /// The name of the extension.
    package static let name = "permessage-deflate"

    /// The parameter `client_max_window_bits`. Without a value, it is valid in an offer only.
    package enum ClientWindowBits: Hashable, Sendable {
        case any
        case atMost(Int)

        /// The value, if there is one.
        package var bits: Int? {
            switch self {
            case .any: nil
            case .atMost(let bits): bits
            }
        }
    }

    package var serverNoContextTakeover = false
    package var clientNoContextTakeover = false
    package var serverMaximumWindowBits: Int?
    package var clientMaximumWindowBits: ClientWindowBits?

    package init() {}

    /// Parses an offer or a response. Returns `nil` for an unknown or repeated parameter, or an
    /// invalid value.
    ///
    /// After `nil`, a server declines the offer, and a client fails the connection (RFC 7692
    /// section 7.1, CVE-2026-2229).
    init?(_ element: WebSocketExtension, isResponse: Bool) {
        guard element.name == Self.name else { return nil }
        var seen: Set<String> = []
        for (name, value) in element.parameters {
            guard seen.insert(name).inserted else { return nil }
            switch (name, value) {
            case ("server_no_context_takeover", nil):
                self.serverNoContextTakeover = true
            case ("client_no_context_takeover", nil):
                self.clientNoContextTakeover = true
            case ("server_max_window_bits", .some(let text)):
                guard let bits = Self.windowBits(text) else { return nil }
                self.serverMaximumWindowBits = bits
            case ("client_max_window_bits", .some(let text)):
                guard let bits = Self.windowBits(text) else { return nil }
                self.clientMaximumWindowBits = .atMost(bits)
            case ("client_max_window_bits", nil) where !isResponse:
                self.clientMaximumWindowBits = .any
            default:
                return nil
            }
        }
    }

    /// RFC 7692 section 7.1.2: "a decimal integer value without leading zeroes between 8 to 15,
    /// inclusive".
    private static func windowBits(_ text: String) -> Int? {
        switch text {
        case "8", "9", "10", "11", "12", "13", "14", "15": Int(text)
        default: nil
        }
    }

    /// The element of the header field.
    package var encoded: String {
        var text = Self.name
        if self.serverNoContextTakeover { text += "; server_no_context_takeover" }
        if self.clientNoContextTakeover { text += "; client_no_context_takeover" }
        if let bits = self.serverMaximumWindowBits { text += "; server_max_window_bits=\(bits)" }
        switch self.clientMaximumWindowBits {
        case nil: break
        case .any: text += "; client_max_window_bits"
        case .atMost(let bits): text += "; client_max_window_bits=\(bits)"
        }
        return text
    }
}
