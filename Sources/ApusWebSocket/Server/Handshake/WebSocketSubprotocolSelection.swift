import ApusBytes
public import HTTPTypes

/// Which of the subprotocols a client offers is spoken.
///
/// Source: RFC 6455 1.9 and 4.2.2 (`Sec-WebSocket-Protocol`).
public struct WebSocketSubprotocolSelection: Sendable {
    enum Choice: Sendable {
        case list([String], isRequired: Bool)
        case custom(@Sendable ([String], HTTPRequest) throws -> String?)
    }

    let choice: Choice

    /// None; what the client offers is not answered. Such a client may go on without, or close.
    public static let none = Self(choice: .list([], isRequired: false))

    /// The first of these that the client offers as well; none when it offers none of them.
    public static func preferred(_ protocols: String...) -> Self { Self(choice: .list(protocols, isRequired: false)) }

    /// The first of these that the client offers as well. A client that offers none of them is refused with 400.
    public static func required(_ protocols: String...) -> Self { Self(choice: .list(protocols, isRequired: true)) }

    /// What the closure says: one of the offered ones, or `nil` for none.
    ///
    /// It runs on the connection's event loop and must not block. A ``WebSocketUpgradeRefusal`` it throws is answered as it is.
    public static func custom(_ choose: @escaping @Sendable (_ offered: [String], _ request: HTTPRequest) throws -> String?) -> Self {
        Self(choice: .custom(choose))
    }

    /// Chooses one of those that were offered.
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

    /// - Throws: What to answer when none may not be the choice.
    func checkNone() throws(WebSocketUpgradeRefusal) {
        guard case .list(let protocols, isRequired: true) = self.choice else { return }
        throw WebSocketUpgradeRefusal(
            .badRequest, message: "None of the subprotocols \(protocols.joined(separator: ", ")) was offered")
    }
}
