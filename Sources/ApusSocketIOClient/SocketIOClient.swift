import ApusSocketIOProtocol
import NIOConcurrencyHelpers

/// A namespace of a server, as the client sees it. Callable from any thread.
///
/// Listeners run one at a time in the order the events came: on the connection's event loop, where they must not block, or where
/// ``SocketManagerConfiguration/callbacks`` says.
public final class SocketIOClient: Sendable {
    private let lifetime: SocketManagerLifetime
    let core: SocketNamespaceCore
    private static let nextID = NIOLockedValueBox(0)

    init(lifetime: SocketManagerLifetime, core: SocketNamespaceCore) {
        self.lifetime = lifetime
        self.core = core
    }

    /// A number nobody else has.
    static func makeID() -> Int {
        self.nextID.withLockedValue { id in
            id += 1
            return id
        }
    }

    /// The namespace, `/` for the default one.
    public var namespace: String { self.core.name }

    /// The id the server gave this socket; nil while it is not connected. Another one after every reconnection that is not a recovery.
    public var id: String? { self.core.status.withLockedValue { $0.id } }

    /// Where the socket stands at the moment.
    public var state: SocketClientState { self.core.status.withLockedValue { $0.state } }

    /// Whether the server went on with the session that was lost: same id, same rooms, and the events missed meanwhile are delivered, each once,
    /// right after `.connect`. `false` while there is no connection.
    public var isRecovered: Bool { self.core.status.withLockedValue { $0.isRecovered } }

    /// Begins to connect and returns at once. Listen for `.connect` and `.error`, or use ``connect(timeout:)``.
    public func open() {
        self.core.onLoop { $0.connect() }
    }

    /// As ``open()``, in the words of socket.io-client-swift.
    ///
    /// - Parameters:
    ///   - seconds: When the socket is not connected by then, it is disconnected and the handler is called.
    ///   - handler: Called at most once, where ``SocketManagerConfiguration/callbacks`` says, also when it failed sooner for good.
    public func connect(timeoutAfter seconds: Double, withHandler handler: @escaping @Sendable () -> Void) {
        // NaN, too, is no time at all.
        let timeout: Duration = seconds > 0 ? .milliseconds(Int64(min(seconds, 1e9) * 1000)) : .zero
        let waiter = Self.makeID()
        self.core.onLoop { core in
            core.connect(waiter: waiter, timeout: timeout) { result in
                if case .failure = result { core.call(isBounded: false, handler) }
            }
        }
    }

    /// Joins the namespace.
    ///
    /// Attempts that fail are repeated by the reconnection policy until the timeout. A timeout or cancellation leaves the socket
    /// disconnected. Once joined, a lost connection is made again by itself, until ``disconnect()`` or until the server leaves.
    ///
    /// - Throws: ``SocketIOError`` with the code `connectRefused` (the server's `data` in it), `connectTimeout`, `transport` (the policy gave
    ///   up), `invalidArguments` (the URL), `disconnected` (left meanwhile); `CancellationError`.
    public func connect(timeout: Duration = .seconds(20)) async throws {
        let waiter = Self.makeID()
        let wasCancelled = NIOLockedValueBox(false)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                self.core.onLoop { core in
                    guard !wasCancelled.withLockedValue({ $0 }) else { return continuation.resume(throwing: CancellationError()) }
                    core.connect(waiter: waiter, timeout: timeout) { continuation.resume(with: $0) }
                }
            }
        } onCancel: {
            wasCancelled.withLockedValue { $0 = true }
            self.core.onLoop { $0.cancelConnect(waiter: waiter) }
        }
    }

    /// Leaves the namespace. The socket does not come back by itself; acks that are waited for fail at once.
    public func disconnect() {
        self.core.onLoop { $0.disconnect() }
    }
}

// `connect()` without `await` begins to connect, as in socket.io-client-swift; in an async function `try await connect()` waits.
extension SocketIOClient {
    /// As ``open()``, in the word of socket.io-client-swift. In an async function Swift takes `connect()` for ``connect(timeout:)``: write ``open()`` there.
    public func connect() {
        self.open()
    }
}
