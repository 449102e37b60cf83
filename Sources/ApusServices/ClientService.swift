public import ApusSocketIOClient
public import ApusWebSocket
import ApusWebSocketProtocol
public import ServiceLifecycle

/// A client that runs in a `ServiceGroup`.
///
/// It connects when the group starts, and reconnects according to its own policy. It closes when
/// the group shuts down or `run()` is cancelled, after earlier packets have been sent.
///
/// `run()` does not return before that, also if the client has given up: the group continues
/// without it. An application that shall end then observes the client's state.
public struct ClientService: Service {
    private let open: @Sendable () -> Void
    private let close: @Sendable () async -> Void

    fileprivate init(open: @escaping @Sendable () -> Void, close: @escaping @Sendable () async -> Void) {
        self.open = open
        self.close = close
    }

    /// Opens the client, waits for the end of the group, and closes the client.
    public func run() async throws {
        self.open()
        // Cancellation ends the client as a shutdown does.
        try? await gracefulShutdown()
        await self.close()
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
            self.defaultSocket.open()
        } close: {
            await self.close(timeout: closeTimeout)
        }
    }
}

extension WebSocketSession {
    /// Returns the session as a service. It closes with the code 1001.
    public func service() -> ClientService {
        ClientService {
            self.open()
        } close: {
            await self.close(code: .goingAway)
        }
    }
}
