import ApusWebSocketProtocol
import NIOCore

/// One run of the application's hook, with a deadline. Calls `finish` once, unless it is cancelled.
///
/// Confined to the connection's event loop.
final class WebSocketOpenHook {
    private var task: Task<Void, Never>?
    private var timer: Scheduled<Void>?
    private var finish: ((Result<Void, WebSocketError>) -> Void)?

    init(
        _ hook: @escaping @Sendable (WebSocketConnection) async throws -> Void, connection: WebSocketConnection, timeout: Duration,
        finish: @escaping (Result<Void, WebSocketError>) -> Void
    ) {
        self.finish = finish
        let eventLoop = connection.eventLoop
        self.timer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) {
            self.end(.failure(WebSocketError(.timeout, message: "`onOpen` took more than \(timeout) (`onOpenTimeout`)")))
        }
        let box = NIOLoopBound(self, eventLoop: eventLoop)
        // Owned by `task`, which every end cancels.
        self.task = Task {
            let result: Result<Void, WebSocketError>
            do {
                try await hook(connection)
                result = .success(())
            } catch {
                let failure = WebSocketError(.openHook, message: "`onOpen` failed", cause: error)
                result = .failure(error as? WebSocketError ?? failure)
            }
            eventLoop.execute { box.value.end(result) }
        }
    }

    /// Cancels the run without calling `finish`.
    func cancel() {
        self.finish = nil
        self.stop()
    }

    private func end(_ result: Result<Void, WebSocketError>) {
        self.stop()
        self.finish.take()?(result)
    }

    private func stop() {
        self.task?.cancel()
        self.task = nil
        self.timer?.cancel()
        self.timer = nil
    }
}

@available(*, unavailable)
extension WebSocketOpenHook: Sendable {}
