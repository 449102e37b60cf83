/// The side of a connection we are on.
///
/// RFC 6455 5.1: a client masks every frame, a server masks none.
@usableFromInline
package enum WebSocketRole: Hashable, Sendable {
    /// We opened the connection: what we send is masked, what comes is not.
    case client
    /// We accepted the connection: what comes is masked, what we send is not.
    case server

    /// Whether what we send is masked.
    @inlinable
    package var masks: Bool {
        switch self {
        case .client: true
        case .server: false
        }
    }
}
