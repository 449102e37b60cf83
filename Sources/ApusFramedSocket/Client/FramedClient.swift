import ApusConnectivity
import ApusEventLoop
import ApusFramedProtocol
public import NIOCore
import NIOPosix

/// Opens framed connections.
///
/// ```swift
/// let connection = try await FramedClient.connect(
///     host: "10.0.0.5", port: 8080, configuration: .init(framing: .fixedHeader(length: 100)))
/// ```
public enum FramedClient {
    /// Opens a connection over TCP.
    ///
    /// - Parameters:
    ///   - host: A name or an address, IPv4 or IPv6 (without brackets).
    ///   - port: The port.
    ///   - configuration: The configuration.
    ///   - eventLoop: The event loop of the connection. Default: one of the process-wide group.
    /// - Returns: The open connection; in version 2, both sides have sent their hello. Close the
    ///   connection when it is no longer needed.
    /// - Throws: `FramedError`: `transport` with a `ConnectivityError` as its cause when the server
    ///   is unreachable, the error of the handshake, or `invalidConfiguration`. `CancellationError`
    ///   when the task was cancelled.
    public static func connect(
        host: String, port: Int, configuration: FramedClientConfiguration = .init(), on eventLoop: (any EventLoop)? = nil
    ) async throws -> FramedConnection {
        try await self.connect(to: .host(host, port: port), configuration: configuration, on: eventLoop)
    }

    /// Opens a connection over a Unix socket; see ``connect(host:port:configuration:on:)``.
    ///
    /// - Parameters:
    ///   - path: The path of the socket.
    ///   - configuration: The configuration.
    ///   - eventLoop: The event loop of the connection. Default: one of the process-wide group.
    public static func connect(
        unixDomainSocketPath path: String, configuration: FramedClientConfiguration = .init(), on eventLoop: (any EventLoop)? = nil
    ) async throws -> FramedConnection {
        try await self.connect(to: .unixSocket(path: path), configuration: configuration, on: eventLoop)
    }

    /// Opens a connection, passes it to `body`, and closes it when `body` returns or throws.
    ///
    /// - Parameters:
    ///   - host: A name or an address, IPv4 or IPv6 (without brackets).
    ///   - port: The port.
    ///   - configuration: The configuration.
    ///   - eventLoop: The event loop of the connection. Default: one of the process-wide group.
    ///   - isolation: The isolation of `body`. Default: the caller's.
    ///   - body: Receives the open connection.
    /// - Returns: The result of `body`, after the connection has closed.
    /// - Throws: The errors of ``connect(host:port:configuration:on:)`` and of `body`.
    public static func withConnection<Result>(
        host: String, port: Int, configuration: FramedClientConfiguration = .init(), on eventLoop: (any EventLoop)? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: (FramedConnection) async throws -> Result
    ) async throws -> Result {
        let connection = try await self.connect(host: host, port: port, configuration: configuration, on: eventLoop)
        do {
            let result = try await body(connection)
            await connection.close()
            return result
        } catch {
            await connection.close()
            throw error
        }
    }

    static func connect(
        to target: Dialer.Target, configuration: FramedClientConfiguration, on eventLoop: (any EventLoop)?
    ) async throws -> FramedConnection {
        try configuration.validate()
        let eventLoop = eventLoop ?? MultiThreadedEventLoopGroup.singleton.next()
        return try await withLoopOperation(on: eventLoop) { operation in
            let attempt = configuration.dialer.dial(target, on: eventLoop)
            operation.whenCancelled { attempt.cancel() }
            // Runs synchronously, because the handler must be in the pipeline before the first byte
            // arrives.
            attempt.futureResult.assumeIsolated().whenComplete { result in
                switch result {
                case .success(let channel): Self.begin(on: channel, configuration.connection, operation)
                case .failure(let error): operation.fail(Self.error(connecting: error))
                }
            }
        }
    }

    private static func begin(
        on channel: any Channel, _ configuration: FramedConnectionConfiguration, _ operation: LoopOperation<FramedConnection>
    ) {
        let connection = FramedConnection(
            on: channel.eventLoop, remoteAddress: channel.remoteAddress, isClient: true, configuration: configuration)
        operation.whenCancelled {
            operation.fail(CancellationError())
            connection.abort()
        }
        do {
            let handler = try FramedHandler(isClient: true, configuration: configuration, connection: connection)
            FramedConnection.setOptions(of: channel)
            connection.attach(handler).assumeIsolated().whenComplete { result in operation.end(with: result.map { connection }) }
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            operation.fail(FramedError(.transport, message: "the connection ended while its handlers were added", cause: error))
            connection.abort()
            channel.close(promise: nil)
            connection.handlerEnded(FramedError(.transport, message: "the connection ended while its handlers were added", cause: error))
        }
    }

    private static func error(connecting error: any Error) -> any Error {
        if let error = error as? ConnectivityError {
            if error.code == .cancelled { return CancellationError() }
            return FramedError(.transport, message: "the connection could not be established: \(error.message)", cause: error)
        }
        return FramedError(.transport, message: "the connection could not be established", cause: error)
    }
}
