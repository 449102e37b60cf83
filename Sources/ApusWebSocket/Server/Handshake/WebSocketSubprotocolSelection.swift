import ApusBytes
public import HTTPTypes

/// The selection among the subprotocols that a client offers.
///
/// Source: RFC 6455 sections 1.9 and 4.2.2 (`Sec-WebSocket-Protocol`).
public struct WebSocketSubprotocolSelection: Sendable {
    enum Choice: Sendable {
        case list([String], isRequired: Bool)
        case custom(@Sendable ([String], HTTPRequest) throws -> String?)
    }

    let choice: Choice

    /// Selects no subprotocol. A client that offered subprotocols may continue without one, or
    /// close.
    public static let none = Self(choice: .list([], isRequired: false))

    /// Selects the first of the given subprotocols that the client offers. If the client offers
    /// none of them, no subprotocol is selected.
    public static func preferred(_ protocols: String...) -> Self { Self(choice: .list(protocols, isRequired: false)) }

    /// Selects the first of the given subprotocols that the client offers. A client that offers
    /// none of them is refused with 400.
    public static func required(_ protocols: String...) -> Self { Self(choice: .list(protocols, isRequired: true)) }

    /// Selects with a closure that returns one of the offered subprotocols, or `nil` for none.
    ///
    /// The closure runs on the connection's event loop and must not block. A
    /// ``WebSocketUpgradeRefusal`` that it throws is the response; any other error is answered with
    /// 500. A subprotocol that was not offered is treated as `nil`.
    public static func custom(_ choose: @escaping @Sendable (_ offered: [String], _ request: HTTPRequest) throws -> String?) -> Self {
        Self(choice: .custom(choose))
    }

    /// Returns the selected subprotocol.
    func choose(among offered: [String], for request: HTTPRequest) throws(WebSocketUpgradeRefusal) -> String? {
        switch self.choice {
        case .list(let protocols, _):
            return protocols.first { offered.contains(where: $0.hasSameBytes) }
        case .custom(let choose):
            do {
                return try choose(offered, request)
            } catch {
                throw error as? WebSocketUpgradeRefusal ?? WebSocketUpgradeRefusal(.internalServerError, message: "Internal server error")
            }
        }
    }

    /// Checks whether a handshake without a subprotocol is permitted.
    ///
    /// - Throws: The refusal if a subprotocol is required.
    func checkNone() throws(WebSocketUpgradeRefusal) {
        guard case .list(let protocols, isRequired: true) = self.choice else { return }
        throw WebSocketUpgradeRefusal(
            .badRequest, message: "A subprotocol is required. Supported: \(protocols.joined(separator: ", "))")
    }
}
