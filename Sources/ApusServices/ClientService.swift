import ApusEventLoop
public import ApusSocketIOClient
public import ApusWebSocket
import ApusWebSocketProtocol
public import ServiceLifecycle

/// A client that runs in a `ServiceGroup`.
///
/// It connects when the group starts, and reconnects according to its own policy. It closes when
/// the group shuts down or `run()` is cancelled, after earlier packets have been sent.
///
/// `run()` throws the client's error when the client makes no further attempt: its policy permits
/// none, or the server ended the connection permanently. A client that the application closes can
/// be opened again, so `run()` then waits for the end of the group.
public struct ClientService: Service {
    private let runUntilGivenUp: @Sendable () async throws -> Void
    private let close: @Sendable () async -> Void

    fileprivate init(runUntilGivenUp: @escaping @Sendable () async throws -> Void, close: @escaping @Sendable () async -> Void) {
        self.runUntilGivenUp = runUntilGivenUp
        self.close = close
    }

    /// Opens the client, waits until it makes no further attempt or the group ends, and closes the
    /// client.
    ///
    /// - Throws: The error after which the client makes no further attempt: a `SocketIOError` or
    ///   `WebSocketError`.
    public func run() async throws {
        var failure: (any Error)?
        do {
            try await cancelWhenGracefulShutdown(self.runUntilGivenUp)
        } catch {
            // Cancellation ends the client as a shutdown does.
            if !(error is CancellationError) { failure = error }
        }
        await self.close()
        if let failure { throw failure }
    }
}

extension SocketIOManager {
    /// Returns the manager as a service. It opens the socket of the namespace `/`; other sockets
    /// are opened by the application.
    ///
    /// - Parameter closeTimeout: The maximum wait for events that were not sent yet. Default: 5
    ///   seconds.
    public func service(closeTimeout: Duration = .seconds(5)) -> ClientService {
        ClientService {
            try await self.runUntilGivenUp()
        } close: {
            await self.close(timeout: closeTimeout)
        }
    }
}

extension WebSocketSession {
    /// Returns the session as a service, which closes the session with the code 1001.
    public func service() -> ClientService {
        ClientService {
            self.open()
            // The first state is the one after `open()`, not a state from an earlier use of the
            // session.
            for await state in self.states(bufferingPolicy: .bufferingNewest(1)) where state == .failed || state == .closedByPeer {
                throw self.lastError ?? WebSocketError(.closed, message: state.reason)
            }
        } close: {
            await self.close(code: .goingAway)
        }
    }
}
