import ApusSocketIOProtocol
import Atomics

/// Identifies a listener of a socket, for its removal with
/// ``SocketIOServerSocket/off(_:)-(SocketIOServerListener)``.
public struct SocketIOServerListener: Hashable, Sendable {
    /// The number of the next listener. All sockets share it, so that a listener added from any
    /// thread is numbered immediately.
    private static let next = ManagedAtomic(0)
    let id: Int

    init() {
        self.id = Self.next.wrappingIncrementThenLoad(ordering: .relaxed)
    }
}

typealias SocketIOServerListeners = SocketIOListenerTable<SocketIOHandler, SocketIOHandler>
