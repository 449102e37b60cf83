public import ApusSocketIOClient

/// The state of a socket, with the names of socket.io-client-swift.
public enum SocketIOStatus: Sendable, Hashable {
    /// The socket was never connected, or its connection was closed permanently.
    case disconnected
    /// An attempt to connect or reconnect is in progress.
    case connecting
    /// The namespace was joined.
    case connected
    /// Equal to `disconnected`. socket.io-client-swift reports it before the first `connect()`.
    public static let notConnected = Self.disconnected

    init(_ state: SocketIOClientState) {
        switch state {
        case .disconnected: self = .disconnected
        case .connecting, .reconnecting: self = .connecting
        case .connected: self = .connected
        }
    }
}

extension SocketIOClient {
    /// The state of the socket.
    public var status: SocketIOStatus { SocketIOStatus(self.state) }

    /// The id that the server assigned to the socket; `nil` while disconnected.
    public var sid: String? { self.id }

    /// The namespace.
    public var nsp: String { self.namespace }

    /// Starts connecting. In an async function, `connect()` resolves to the method that waits; call
    /// `open()` there to return immediately.
    public func connect() { self.open() }

    /// Starts connecting.
    ///
    /// - Parameters:
    ///   - seconds: The timeout. If it elapses, the socket disconnects and the handler is called. 0
    ///     disables the timeout, as in socket.io-client-swift.
    ///   - handler: The closure to call at most once, after the timeout or an earlier permanent
    ///     failure.
    public func connect(timeoutAfter seconds: Double, withHandler handler: (@Sendable () -> Void)?) {
        // With a negative number or NaN, the timeout elapses immediately.
        let timeout: Duration = seconds > 0 ? .milliseconds(Int64(min(seconds, 1e9) * 1000)) : .zero
        self.connect(timeout: seconds == 0 ? nil : timeout) { result in
            if case .failure = result { handler?() }
        }
    }

    /// Joins the namespace; the same as ``connect()``.
    public func joinNamespace() { self.open() }

    /// Leaves the namespace.
    public func leaveNamespace() { self.disconnect() }
}
