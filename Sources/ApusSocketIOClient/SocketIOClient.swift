import ApusEventLoop
package import ApusSocketIOProtocol
import NIOConcurrencyHelpers
import NIOCore

/// A client's socket in one namespace of a server. It can be used from any thread.
///
/// Listeners run one at a time in the order of the events: on the connection's event loop, where
/// they must not block, or in the context of ``SocketIOManagerConfiguration/callbacks``.
public final class SocketIOClient: Sendable {
    private let lifetime: SocketIOManagerLifetime
    private let handle: SocketIOClientNamespaceHandle
    var core: NIOLoopBoundBox<SocketIOClientNamespaceCore> { self.handle.core }
    private static let nextID = NIOLockedValueBox(0)

    init(lifetime: SocketIOManagerLifetime, handle: SocketIOClientNamespaceHandle) {
        self.lifetime = lifetime
        self.handle = handle
    }

    /// Returns a number that is unique in the process.
    static func makeID() -> Int {
        self.nextID.withLockedValue { id in
            id += 1
            return id
        }
    }

    /// The namespace, `/` for the default one.
    public var namespace: String { self.handle.name }

    /// The id that the server assigned to the socket; `nil` while disconnected. The id changes with
    /// every reconnection that does not recover the session.
    public var id: String? { self.handle.status.withLockedValue { $0.id } }

    /// The current state of the socket.
    public var state: SocketIOClientState { self.handle.status.withLockedValue { $0.state } }

    /// Whether the server recovered the lost session. If `true`, the id and the rooms are
    /// unchanged, and the missed events are delivered once, after `.connect`. `false` while
    /// disconnected.
    public var isRecovered: Bool { self.handle.status.withLockedValue { $0.isRecovered } }

    /// Starts connecting and returns immediately. Listen to `.connect` and `.error`, or use
    /// ``connect(timeout:)``.
    public func open() {
        self.core.onLoop { $0.connect() }
    }

    /// Joins the namespace and passes the result to a callback. The methods with the names of
    /// socket.io-client-swift use it. Calls of this socket's methods take effect in order.
    ///
    /// - Parameters:
    ///   - timeout: The time after which the socket disconnects and the join fails; `nil` for no
    ///     limit.
    ///   - completion: The closure to call once, in the context of
    ///     ``SocketIOManagerConfiguration/callbacks``, with success or an error of
    ///     ``connect(timeout:)``.
    package func connect(timeout: Duration?, completion: @escaping @Sendable (Result<Void, SocketIOError>) -> Void) {
        self.core.onLoop { core in
            core.connect(timeout: timeout) { result in
                let result = result.mapError {
                    $0 as? SocketIOError ?? SocketIOError(.closed, message: "the call to `connect` was cancelled", cause: $0)
                }
                core.call(isBounded: false) { completion(result) }
            }
        }
    }

    /// Joins the namespace.
    ///
    /// The reconnection policy repeats failed attempts until the timeout, by default 20 seconds. A
    /// timeout or a cancellation disconnects the socket. Once joined, the socket reconnects after
    /// each loss of the connection, until ``disconnect()`` is called or the server disconnects it.
    ///
    /// - Throws: `SocketIOError` with the code `connectRefused` (with the server's `data`),
    ///   `connectTimeout`, `transport` (the policy permits no further attempt), `invalidUse` (the
    ///   URL or a setting is invalid), `unsupportedVersion` or `disconnected` (while joining);
    ///   `CancellationError`.
    public func connect(timeout: Duration = .seconds(20)) async throws {
        let core = self.core
        try await withLoopOperation(on: core.eventLoop) { operation in
            let core = core.value
            let waiter = core.connect(timeout: timeout) { operation.end(with: $0) }
            operation.whenCancelled { core.cancelConnect(waiter: waiter) }
        }
    }

    /// Leaves the namespace. The socket does not reconnect; pending acks fail immediately.
    public func disconnect() {
        self.core.onLoop { $0.disconnect() }
    }
}
