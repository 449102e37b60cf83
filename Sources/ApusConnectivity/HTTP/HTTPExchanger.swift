package import NIOCore
import NIOHTTP1

/// Exchanges HTTP/1.1 requests and responses with one server over a small pool of persistent
/// connections.
///
/// Designed for long polling and API calls: collects complete bodies of limited size, and does not
/// follow redirects. Connections are opened by a ``Dialer``, which applies the settings for TLS,
/// pins and proxies. Confined to its event loop. Remains allocated until its last connection has
/// ended.
package final class HTTPExchanger {
    package struct Configuration: Sendable {
        /// The origin of the server.
        package var origin: HTTPOrigin
        /// The dialer that opens connections. `tls` is used for a secure origin only;
        /// `applicationProtocols` is replaced by `http/1.1`.
        package var dialer: Dialer
        /// The destination of the connections. Default: `nil`, the origin's host and port.
        package var target: Dialer.Target?
        /// The maximum number of connections. Default: 2, one for the pending poll and one for
        /// sending.
        package var maximumConnections = 2
        /// The maximum number of requests that wait for a connection. Default: 1,000. Further
        /// requests fail with `cancelled`.
        package var maximumWaiting = 1000
        /// The maximum time for which an idle connection is kept. Default: 3 seconds. A connection
        /// is kept at most until one second before the server's `Keep-Alive` timeout.
        ///
        /// The default is shorter than the 5 seconds of Node and uvicorn, so that a request does
        /// not race with the server's close.
        package var idleTimeout: Duration = .seconds(3)
        /// The maximum size of a response body after decompression. Unit: bytes. Default: 16 MiB.
        /// NIO limits header fields to 80 KiB each.
        package var maximumBodyBytes = 16 << 20
        /// Whether an uncompressed body that exceeds the maximum is truncated and the connection
        /// closed. Default: `false`, the request fails.
        package var cutsBody = false

        package init(origin: HTTPOrigin, dialer: Dialer = Dialer()) {
            self.origin = origin
            self.dialer = dialer
        }
    }

    package typealias Completion = (Result<HTTPExchangeResponse, ConnectivityError>) -> Void
    /// Identifies a request for ``cancel(_:)``.
    package typealias ID = Int

    private struct Exchange {
        let head: HTTPRequestHead
        let body: ByteBuffer?
        let isRepeatable: Bool
        let receiveBody: (@Sendable (ByteBuffer) throws -> Void)?
        let timer: Scheduled<Void>
        let completion: Completion
        /// The connection that carries the request.
        var connection: Int?
        /// Whether the request was sent a second time.
        var wasRepeated = false
    }

    private enum Connection {
        case dialing(DialAttempt)
        /// `isFresh` is `true` until the connection has completed a request or has been idle.
        case open(HTTPConnectionHandler, isFresh: Bool)
    }

    private let configuration: Configuration
    private let eventLoop: any EventLoop
    private var machine: HTTPConnectionPoolStateMachine
    private var exchanges: [ID: Exchange] = [:]
    private var connections: [Int: Connection] = [:]
    private var nextID = 0

    /// Creates an exchanger. Opens no connection. May be called on any thread; all other methods
    /// must be called on `eventLoop`.
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
    ///   - timeout: The time limit for the whole exchange: the wait for a connection, opening it,
    ///     the request, and the complete response.
    ///   - completion: Called exactly once, on the event loop; synchronously if the request is
    ///     invalid or refused.
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
            self.giveUp(id, ConnectivityError(.timeout, message: "the server sent no complete response within \(timeout)"))
        }
        self.exchanges[id] = Exchange(
            head: head, body: request.body, isRepeatable: request.isRepeatable, receiveBody: request.receiveBody, timer: timer,
            completion: completion)
        self.perform(self.machine.requested(id), for: id)
        return id
    }

    /// Cancels a request. It fails with `cancelled` synchronously, and its connection closes. Does
    /// nothing after the request has ended.
    package func cancel(_ id: ID) {
        self.giveUp(id, ConnectivityError(.cancelled, message: "the request was cancelled"))
    }

    /// Refuses new requests; requests in flight and waiting requests may complete.
    package func finish() {
        let error = ConnectivityError(.cancelled, message: "the client was closed")
        for id in self.machine.finish() { self.close(id, error) }
    }

    /// Cancels all requests and closes all connections.
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
        case .refuse(let refusal):
            let message =
                switch refusal {
                case .full(let count): "the maximum of \(count) waiting requests is reached"
                case .finishing: "the client was closed"
                }
            self.end(id, .failure(ConnectivityError(.cancelled, message: message)))
        }
    }

    private func send(_ id: ID, on connection: Int) {
        guard case .open(let handler, _)? = self.connections[connection], var exchange = self.exchanges.removeValue(forKey: id) else {
            return
        }
        exchange.connection = connection
        self.exchanges[id] = exchange
        handler.send(exchange.head, body: exchange.body, receiveBody: exchange.receiveBody)
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
                    error as? ConnectivityError
                        ?? ConnectivityError(.connectionLost, message: "the connection ended before it was ready", cause: error)
                )
            }
        }
    }

    private func makeHandler(_ id: Int, on channel: any Channel) throws -> HTTPConnectionHandler? {
        guard case .dialing? = self.connections[id] else {
            channel.close(promise: nil)  // cancelled in the meantime
            return nil
        }
        let handler = HTTPConnectionHandler(
            id: id, maximumBodyBytes: self.configuration.maximumBodyBytes, cutsBody: self.configuration.cutsBody,
            idleTimeout: self.configuration.idleTimeout, owner: self)
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
        case .close: self.close(id, ConnectivityError(.cancelled, message: "the connection was closed because no request waits for it"))
        }
    }

    private func close(_ id: Int, _ error: ConnectivityError) {
        switch self.connections[id] {
        case .dialing(let attempt): attempt.cancel()
        case .open(let handler, _): handler.close(error)
        case nil: break
        }
    }

    /// Removes a connection that has ended. If it never opened, fails one waiting request. Opens
    /// another connection if other requests wait for one.
    private func lost(_ id: Int, _ error: ConnectivityError) {
        guard self.connections.removeValue(forKey: id) != nil else { return }
        let action = self.machine.lost(id)
        if let connection = action.connect { self.connect(connection) }
        if let request = action.fail { self.end(request, .failure(error)) }
    }
}

extension HTTPExchanger: HTTPConnectionOwner {
    func connection(_ id: Int, answered response: HTTPExchangeResponse, isKept: Bool) {
        // The exchange is removed first: `ready` may end the connection, through its next request
        // or because the connection is not needed.
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

    /// Returns whether an interrupted request is sent again.
    ///
    /// Only a request on a connection that was used or idle before is sent again: the server may
    /// have closed the idle connection (RFC 9112 section 9.3.1). The end of a fresh connection is
    /// an error.
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
