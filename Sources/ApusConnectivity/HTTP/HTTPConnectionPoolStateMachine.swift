import DequeModule

/// Assigns requests to connections. A connection carries one request at a time.
///
/// Opens a connection when no idle one is available. Uses the most recently used connection first,
/// so that the others reach their idle timeout.
struct HTTPConnectionPoolStateMachine {
    typealias ConnectionID = Int
    typealias RequestID = Int

    private enum Connection: Equatable {
        /// The connection is being opened. Transitions to `busy` or `idle`, or is removed.
        case connecting
        /// The connection carries a request. Transitions to `idle` or `busy`, or is removed.
        case busy(RequestID)
        /// The connection carries no request. Transitions to `busy`, or is removed.
        case idle
    }

    private var connections: [ConnectionID: Connection] = [:]
    /// The idle connections, the most recently used one last.
    private var idle: [ConnectionID] = []
    private var waiting = Deque<RequestID>()
    private var nextConnection = 0
    /// Whether new requests are refused while the accepted ones complete.
    private var isFinishing = false
    private let maximumConnections: Int
    private let maximumWaiting: Int

    init(maximumConnections: Int, maximumWaiting: Int) {
        self.maximumConnections = maximumConnections
        self.maximumWaiting = maximumWaiting
    }

    /// Whether there are no connections and no waiting requests.
    var isEmpty: Bool { self.connections.isEmpty && self.waiting.isEmpty }

    enum RequestAction: Equatable {
        case send(on: ConnectionID)
        case connect(ConnectionID)
        /// A connection that is opening or busy will carry the request.
        case wait
        case refuse(Refusal)
    }

    enum Refusal: Equatable {
        /// The maximum number of requests, which is the associated value, already waits.
        case full(Int)
        /// The pool accepts no new requests.
        case finishing
    }

    /// Assigns a request to a connection, queues it, or refuses it.
    ///
    /// - Parameter isRetry: Whether the request was accepted before. A retry is placed at the front
    ///   of the queue, and is accepted above the limit and while the pool is finishing.
    mutating func requested(_ request: RequestID, isRetry: Bool = false) -> RequestAction {
        if !isRetry {
            guard !self.isFinishing else { return .refuse(.finishing) }
            guard self.waiting.count < self.maximumWaiting else { return .refuse(.full(self.maximumWaiting)) }
        }
        if let connection = self.idle.popLast() {
            self.connections[connection] = .busy(request)
            return .send(on: connection)
        }
        if isRetry { self.waiting.prepend(request) } else { self.waiting.append(request) }
        return self.connectIfNeeded().map { .connect($0) } ?? .wait
    }

    /// Adds and returns a connection to open, if more requests wait than connections are opening
    /// and the limit permits another connection.
    private mutating func connectIfNeeded() -> ConnectionID? {
        let connecting = self.connections.values.reduce(0) { $0 + ($1 == .connecting ? 1 : 0) }
        guard self.waiting.count > connecting, self.connections.count < self.maximumConnections else { return nil }
        self.nextConnection += 1
        self.connections[self.nextConnection] = .connecting
        return self.nextConnection
    }

    enum ReadyAction: Equatable {
        case send(RequestID)
        /// Keep the connection for a later request.
        case park
        /// Close the connection, which is not needed.
        case close
    }

    /// Assigns the next request to a connection that has opened or has completed an exchange.
    mutating func ready(_ connection: ConnectionID) -> ReadyAction {
        guard self.connections[connection] != nil else { return .close }  // removed in the meantime
        if let request = self.waiting.popFirst() {
            self.connections[connection] = .busy(request)
            return .send(request)
        }
        guard !self.isFinishing else {
            self.connections[connection] = nil
            return .close
        }
        self.connections[connection] = .idle
        self.idle.append(connection)
        return .park
    }

    struct LostAction: Equatable {
        /// The waiting request that fails because the connection could not be opened.
        var fail: RequestID?
        /// The connection to open for the other waiting requests.
        var connect: ConnectionID?
    }

    /// Removes a connection that ended, was closed, or could not be opened.
    mutating func lost(_ connection: ConnectionID) -> LostAction {
        let last = self.connections.removeValue(forKey: connection)
        self.idle.removeAll { $0 == connection }
        var action = LostAction()
        if last == .connecting { action.fail = self.waiting.popFirst() }
        action.connect = self.connectIfNeeded()
        return action
    }

    enum CancelAction: Equatable {
        /// The request is in flight. Close its connection and report the connection as lost.
        case close(ConnectionID)
        /// No connection carries the request. No action is needed.
        case forget
    }

    /// Cancels a request.
    mutating func cancelled(_ request: RequestID) -> CancelAction {
        self.waiting.removeAll { $0 == request }
        for (connection, state) in self.connections where state == .busy(request) { return .close(connection) }
        return .forget
    }

    /// Refuses new requests from now on; accepted requests may complete. Returns the connections to
    /// close.
    mutating func finish() -> [ConnectionID] {
        self.isFinishing = true
        var free = self.idle
        self.idle = []
        if self.waiting.isEmpty { free += self.connections.keys.filter { self.connections[$0] == .connecting }.sorted() }
        for connection in free { self.connections[connection] = nil }
        return free
    }
}
