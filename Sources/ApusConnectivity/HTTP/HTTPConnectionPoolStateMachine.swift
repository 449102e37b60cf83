import DequeModule

/// Which connection carries which request, one at a time each.
///
/// Connections are made when a request finds none free; the one used last is used first, so that the others may grow old.
struct HTTPConnectionPoolStateMachine {
    typealias ConnectionID = Int
    typealias RequestID = Int

    private enum Connection: Equatable {
        /// Being made. Leaves to `busy`, `idle` or away.
        case connecting
        /// Leaves to `idle` or away.
        case busy(RequestID)
        /// Leaves to `busy` or away.
        case idle
    }

    private var connections: [ConnectionID: Connection] = [:]
    /// Those that are free, the last used one at the end.
    private var idle: [ConnectionID] = []
    private var waiting = Deque<RequestID>()
    private var nextConnection = 0
    /// Nothing new is taken; what runs may end.
    private var isFinishing = false
    private let maximumConnections: Int
    private let maximumWaiting: Int

    init(maximumConnections: Int, maximumWaiting: Int) {
        self.maximumConnections = maximumConnections
        self.maximumWaiting = maximumWaiting
    }

    /// Whether nothing is left.
    var isEmpty: Bool { self.connections.isEmpty && self.waiting.isEmpty }

    enum RequestAction: Equatable {
        case send(on: ConnectionID)
        case connect(ConnectionID)
        /// A connection that is being made or busy will take it.
        case wait
        /// Too many wait already, or no more are taken.
        case refuse
    }

    /// A request is to be sent.
    ///
    /// - Parameter isRetry: It was taken before: it comes first, and no bound holds it back.
    mutating func requested(_ request: RequestID, isRetry: Bool = false) -> RequestAction {
        guard isRetry || !self.isFinishing && self.waiting.count < self.maximumWaiting else { return .refuse }
        if let connection = self.idle.popLast() {
            self.connections[connection] = .busy(request)
            return .send(on: connection)
        }
        if isRetry { self.waiting.prepend(request) } else { self.waiting.append(request) }
        return self.connectIfNeeded().map { .connect($0) } ?? .wait
    }

    /// A connection for those that wait, unless as many are on their way or there may be no more.
    private mutating func connectIfNeeded() -> ConnectionID? {
        let connecting = self.connections.values.reduce(0) { $0 + ($1 == .connecting ? 1 : 0) }
        guard self.waiting.count > connecting, self.connections.count < self.maximumConnections else { return nil }
        self.nextConnection += 1
        self.connections[self.nextConnection] = .connecting
        return self.nextConnection
    }

    enum ReadyAction: Equatable {
        case send(RequestID)
        /// Keep it for later.
        case park
        /// Nobody needs it.
        case close
    }

    /// A connection stands, or its exchange is over and it may carry another.
    mutating func ready(_ connection: ConnectionID) -> ReadyAction {
        guard self.connections[connection] != nil else { return .close }  // given up in the meantime
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
        /// Fails with the connection that was made for it.
        var fail: RequestID?
        /// Make this one for the others that wait.
        var connect: ConnectionID?
    }

    /// A connection ended, was closed, or could not be made.
    mutating func lost(_ connection: ConnectionID) -> LostAction {
        let last = self.connections.removeValue(forKey: connection)
        self.idle.removeAll { $0 == connection }
        var action = LostAction()
        if last == .connecting { action.fail = self.waiting.popFirst() }
        action.connect = self.connectIfNeeded()
        return action
    }

    enum CancelAction: Equatable {
        /// It is on its way: only the end of its connection ends it. Report that as lost.
        case close(ConnectionID)
        /// It had not left.
        case forget
    }

    /// Nobody waits for a request's answer any more.
    mutating func cancelled(_ request: RequestID) -> CancelAction {
        self.waiting.removeAll { $0 == request }
        for (connection, state) in self.connections where state == .busy(request) { return .close(connection) }
        return .forget
    }

    /// Takes no more requests: what runs and waits may end. Answers the connections to close now.
    mutating func finish() -> [ConnectionID] {
        self.isFinishing = true
        var free = self.idle
        self.idle = []
        if self.waiting.isEmpty { free += self.connections.keys.filter { self.connections[$0] == .connecting }.sorted() }
        for connection in free { self.connections[connection] = nil }
        return free
    }
}
