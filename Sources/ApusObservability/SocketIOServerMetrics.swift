public import ApusSocketIOServer
public import Metrics

/// The metrics of a Socket.IO server, for a backend of swift-metrics.
///
/// | metric | type | meaning |
/// |---|---|---|
/// | `socketio_server_sockets` | meter | sockets that are in a namespace |
/// | `socketio_server_connections_total` | counter | sockets that joined a namespace |
/// | `socketio_server_disconnections_total` | counter | sockets that left, by `reason` |
/// | `socketio_server_events_received_total` | counter | received events |
/// | `socketio_server_events_sent_total` | counter | sent events, one for each recipient |
/// | `socketio_server_ack_seconds` | timer | the wait for the ack of an event, by `outcome` |
/// | `socketio_server_handler_errors_total` | counter | errors of handlers and middleware |
/// | `socketio_server_handler_seconds` | timer | the time that a handler of an event took |
///
/// The values of `outcome` are those of `SocketIOAckEnd`: `answered`, `timed out`, `disconnected`
/// and `cancelled`.
///
/// No metric has a label that clients choose. The names of events and of dynamic namespaces would
/// make the number of time series unlimited.
public struct SocketIOServerMetrics: SocketIOServerObserver {
    private let sockets: Meter
    private let connections: Counter
    private let disconnections: @Sendable (SocketIOServerDisconnectReason) -> Counter
    private let received: Counter
    private let sent: Counter
    private let acks: [SocketIOAckEnd: Metrics.Timer]
    private let errors: Counter
    private let handlers: Metrics.Timer

    /// Creates the metrics.
    ///
    /// - Parameters:
    ///   - factory: The backend. Default: the one of `MetricsSystem`.
    ///   - prefix: The beginning of the names of the metrics. Two servers in one process require
    ///     different ones. Default: `socketio_server`.
    public init(factory: any MetricsFactory = MetricsSystem.factory, prefix: String = "socketio_server") {
        func counter(_ name: String) -> Counter { Counter(label: "\(prefix)_\(name)", dimensions: [], factory: factory) }
        self.sockets = Meter(label: "\(prefix)_sockets", dimensions: [], factory: factory)
        self.connections = counter("connections_total")
        // A backend returns the same counter for the same label and dimensions.
        self.disconnections = { reason in
            Counter(label: "\(prefix)_disconnections_total", dimensions: [("reason", reason.description)], factory: factory)
        }
        self.received = counter("events_received_total")
        self.sent = counter("events_sent_total")
        let acks = SocketIOAckEnd.allCases.map { end in
            (end, Metrics.Timer(label: "\(prefix)_ack_seconds", dimensions: [("outcome", end.rawValue)], factory: factory))
        }
        self.acks = Dictionary(uniqueKeysWithValues: acks)
        self.errors = counter("handler_errors_total")
        self.handlers = Metrics.Timer(label: "\(prefix)_handler_seconds", dimensions: [], factory: factory)
    }

    /// Counts a socket that joined its namespace.
    public func connected(_ socket: SocketIOServerSocket) {
        self.sockets.increment()
        self.connections.increment()
    }

    /// Counts a socket that left its namespace.
    public func disconnected(_ socket: SocketIOServerSocket, reason: SocketIOServerDisconnectReason) {
        self.sockets.decrement()
        self.disconnections(reason).increment()
    }

    /// Counts a received event.
    public func received(_ event: SocketIOReceivedEvent, on socket: SocketIOServerSocket) { self.received.increment() }

    /// Counts a sent event.
    public func sent(_ event: String, to socket: SocketIOServerSocket) { self.sent.increment() }

    /// Measures the time until an ack arrived, or until it was no longer awaited.
    public func ackEnded(_ event: String, on socket: SocketIOServerSocket, _ end: SocketIOAckEnd, after time: Duration) {
        self.acks[end]?.record(duration: time)
    }

    /// Counts an error.
    public func failed(_ event: SocketIOReceivedEvent, _ error: any Error, on socket: SocketIOServerSocket) { self.errors.increment() }

    /// Measures a handler.
    public func handle(_ event: SocketIOReceivedEvent, on socket: SocketIOServerSocket, _ handler: () throws -> Void) throws {
        let start = ContinuousClock.now
        defer { self.handlers.record(duration: ContinuousClock.now - start) }
        try handler()
    }

    /// Measures an asynchronous handler, without the time that its event waited for earlier ones.
    public func handle(
        _ event: SocketIOReceivedEvent, on socket: SocketIOServerSocket, _ handler: @Sendable () async throws -> Void
    ) async throws {
        let start = ContinuousClock.now
        defer { self.handlers.record(duration: ContinuousClock.now - start) }
        try await handler()
    }
}
