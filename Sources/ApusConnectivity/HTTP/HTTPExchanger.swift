package import NIOCore
import NIOHTTP1

/// Exchanges HTTP/1.1 requests and answers with one server, over a few connections of its own that are kept for the next request.
///
/// Made for the polling of a session and the calls of an API: bodies are whole and bounded, redirects are answers. Connections are a ``Dialer``'s,
/// so that TLS, pins and proxies are judged as everywhere. Confined to its event loop; lives until its last connection has ended.
package final class HTTPExchanger {
    package struct Configuration: Sendable {
        /// The server.
        package var origin: HTTPOrigin
        /// How to connect, and the deadlines of that. Its `tls` is used for a secure origin only, its `applicationProtocols` are replaced.
        package var dialer: Dialer
        /// Where to when it is not the origin's host. Default: `nil`.
        package var target: Dialer.Target?
        /// Connections at a time. Default: 2, one for the poll that waits and one for what is sent.
        package var maximumConnections = 2
        /// Requests that may wait for one. Default: 1,000. One more fails.
        package var maximumWaiting = 1000
        /// How long a connection is kept for the next request. Default: 3 seconds, or a second less than the server says.
        ///
        /// Shorter than the 5 seconds of Node and uvicorn: a request must not meet a connection that the server is just closing.
        package var idleTimeout: Duration = .seconds(3)
        /// The largest body of an answer, decompressed. Unit: bytes. Default: 16 MiB. Its head is held to NIO's 80 KiB a field.
        package var maximumBodyBytes = 16 << 20

        package init(origin: HTTPOrigin, dialer: Dialer = Dialer()) {
            self.origin = origin
            self.dialer = dialer
        }
    }

    package typealias Completion = (Result<HTTPExchangeResponse, ConnectivityError>) -> Void
    /// Names a request for ``cancel(_:)``.
    package typealias ID = Int

    private struct Exchange {
        let head: HTTPRequestHead
        let body: ByteBuffer?
        let isRepeatable: Bool
        let timer: Scheduled<Void>
        let completion: Completion
        /// The connection that carries it.
        var connection: Int?
        /// Of the connection that carries it.
        var wasRepeated = false
    }

    private enum Connection {
        case dialing(DialAttempt)
        /// Fresh: its first request is not over, and it did not wait for that.
        case open(HTTPConnectionHandler, isFresh: Bool)
    }

    private let configuration: Configuration
    private let eventLoop: any EventLoop
    private var machine: HTTPConnectionPoolStateMachine
    private var exchanges: [ID: Exchange] = [:]
    private var connections: [Int: Connection] = [:]
    private var nextID = 0

    /// Connects to nothing yet. May be called anywhere, all else on `eventLoop`.
    package init(configuration: Configuration, eventLoop: any EventLoop) {
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.machine = HTTPConnectionPoolStateMachine(
            maximumConnections: configuration.maximumConnections, maximumWaiting: configuration.maximumWaiting)
    }

    // MARK: Requests

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - timeout: For all of it together: the wait for a connection, making it, the request and the answer to its last byte.
    ///   - completion: Called exactly once, on the event loop; in this call when the request cannot be sent at all.
    @discardableResult package func send(
        _ request: HTTPExchangeRequest, timeout: Duration, completion: @escaping Completion
    ) -> ID {
        self.eventLoop.preconditionInEventLoop()
        self.nextID += 1
        let id = self.nextID
        let head: HTTPRequestHead
        do throws(ConnectivityError) { head = try request.head(for: self.configuration.origin) } catch {
            completion(.failure(error))
            return id
        }
        let timer = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) {
            self.giveUp(id, ConnectivityError(.timeout, message: "no answer within \(timeout)"))
        }
        self.exchanges[id] = Exchange(
            head: head, body: request.body, isRepeatable: request.isRepeatable, timer: timer, completion: completion)
        self.perform(self.machine.requested(id), for: id)
        return id
    }

    /// Gives a request up: it fails with `cancelled` in this call, and the connection it is on is closed. After its end this does nothing.
    package func cancel(_ id: ID) {
        self.giveUp(id, ConnectivityError(.cancelled, message: "the request was given up"))
    }

    /// Takes no more requests; those on their way and those that wait may end.
    package func finish() {
        let error = ConnectivityError(.cancelled, message: "the client was closed")
        for id in self.machine.finish() { self.close(id, error) }
    }

    /// Gives everything up.
    package func close() {
        self.finish()
        for id in self.exchanges.keys.sorted() { self.cancel(id) }
    }

    private func giveUp(_ id: ID, _ error: ConnectivityError) {
        guard let exchange = self.exchanges.removeValue(forKey: id) else { return }
        exchange.timer.cancel()
        switch self.machine.cancelled(id) {
        case .close(let connection): self.close(connection, error)
        case .forget: break
        }
        exchange.completion(.failure(error))
    }

    private func end(_ id: ID, _ result: Result<HTTPExchangeResponse, ConnectivityError>) {
        guard let exchange = self.exchanges.removeValue(forKey: id) else { return }
        exchange.timer.cancel()
        exchange.completion(result)
    }

    private func perform(_ action: HTTPConnectionPoolStateMachine.RequestAction, for id: ID) {
        switch action {
        case .send(let connection): self.send(id, on: connection)
        case .connect(let connection): self.connect(connection)
        case .wait: break
        case .refuse: self.end(id, .failure(ConnectivityError(.cancelled, message: "too many requests wait, or the client was closed")))
        }
    }

    private func send(_ id: ID, on connection: Int) {
        guard case .open(let handler, _)? = self.connections[connection], var exchange = self.exchanges.removeValue(forKey: id) else {
            return
        }
        exchange.connection = connection
        self.exchanges[id] = exchange
        handler.send(exchange.head, body: exchange.body)
    }

    // MARK: Connections

    private func connect(_ id: Int) {
        let origin = self.configuration.origin
        var dialer = self.configuration.dialer
        dialer.tls = origin.isSecure ? dialer.tls ?? .system : nil
        dialer.applicationProtocols = ["http/1.1"]
        let attempt = dialer.dial(self.configuration.target ?? .host(origin.host, port: origin.port), name: origin.host, on: self.eventLoop)
        self.connections[id] = .dialing(attempt)
        attempt.futureResult.assumeIsolated().whenComplete { result in
            do {
                self.connected(id, try self.makeHandler(id, on: try result.get()))
            } catch {
                self.lost(
                    id,
                    error as? ConnectivityError ?? ConnectivityError(.connectionLost, message: "the connection ended at once", cause: error)
                )
            }
        }
    }

    private func makeHandler(_ id: Int, on channel: any Channel) throws -> HTTPConnectionHandler? {
        guard case .dialing? = self.connections[id] else {
            channel.close(promise: nil)  // given up in the meantime
            return nil
        }
        let handler = HTTPConnectionHandler(
            id: id, maximumBodyBytes: self.configuration.maximumBodyBytes, idleTimeout: self.configuration.idleTimeout, owner: self)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(HTTPRequestEncoder())
        try pipeline.addHandler(ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes)))
        try pipeline.addHandler(handler)
        return handler
    }

    private func connected(_ id: Int, _ handler: HTTPConnectionHandler?) {
        guard let handler else { return }
        self.connections[id] = .open(handler, isFresh: true)
        self.ready(id)
    }

    private func ready(_ id: Int) {
        switch self.machine.ready(id) {
        case .send(let request): self.send(request, on: id)
        case .park:
            guard case .open(let handler, _)? = self.connections[id] else { return }
            self.connections[id] = .open(handler, isFresh: false)
            handler.park()
        case .close: self.close(id, ConnectivityError(.cancelled, message: "nobody needs the connection"))
        }
    }

    private func close(_ id: Int, _ error: ConnectivityError) {
        switch self.connections[id] {
        case .dialing(let attempt): attempt.cancel()
        case .open(let handler, _): handler.close(error)
        case nil: break
        }
    }

    /// A connection is gone.
    private func lost(_ id: Int, _ error: ConnectivityError) {
        guard self.connections.removeValue(forKey: id) != nil else { return }
        let action = self.machine.lost(id)
        if let connection = action.connect { self.connect(connection) }
        if let request = action.fail { self.end(request, .failure(error)) }
    }
}

extension HTTPExchanger: HTTPConnectionOwner {
    func connection(_ id: Int, answered response: HTTPExchangeResponse, isKept: Bool) {
        // Out of the table before all else: the connection may end in `ready`, with the request that comes next or because nobody needs it.
        let exchange = self.exchanges.firstIndex { $0.value.connection == id }.map { self.exchanges.remove(at: $0).value }
        exchange?.timer.cancel()
        if isKept {
            if case .open(let handler, _)? = self.connections[id] { self.connections[id] = .open(handler, isFresh: false) }
            self.ready(id)  // before the completion, which may send the next request
        }
        exchange?.completion(.success(response))
    }

    func connection(_ id: Int, endedBy error: ConnectivityError, _ stage: HTTPConnectionHandler.Stage) {
        let isFresh = if case .open(_, let isFresh)? = self.connections[id] { isFresh } else { true }
        let cut = self.exchanges.first { $0.value.connection == id }?.key
        self.lost(id, error)
        guard let cut, var exchange = self.exchanges.removeValue(forKey: cut) else { return }
        guard Self.mayRepeat(exchange.isRepeatable, stage, isFresh: isFresh), !exchange.wasRepeated else {
            exchange.timer.cancel()
            return exchange.completion(.failure(error))
        }
        exchange.connection = nil
        exchange.wasRepeated = true
        self.exchanges[cut] = exchange
        self.perform(self.machine.requested(cut, isRetry: true), for: cut)
    }

    /// Whether a request that was cut off is sent again.
    ///
    /// Only over a connection that was used or waited before: it may have been closed by the server while idle (RFC 9112 9.3.1). A fresh one
    /// that ends is news.
    private static func mayRepeat(_ isRepeatable: Bool, _ stage: HTTPConnectionHandler.Stage, isFresh: Bool) -> Bool {
        guard !isFresh else { return false }
        switch stage {
        case .unsent: return true
        case .unanswered: return isRepeatable
        case .answered, .idle: return false
        }
    }
}

@available(*, unavailable)
extension HTTPExchanger: Sendable {}
