/// The role of this side of a connection.
///
/// RFC 6455 section 5.1: a client masks every frame, a server masks none.
@usableFromInline
package enum WebSocketRole: Hashable, Sendable {
    /// This side opened the connection: outgoing frames are masked, incoming frames are not.
    case client
    /// This side accepted the connection: incoming frames are masked, outgoing frames are not.
    case server

    /// Whether outgoing frames are masked.
    @inlinable
    package var masks: Bool {
        switch self {
        case .client: true
        case .server: false
        }
    }
}
