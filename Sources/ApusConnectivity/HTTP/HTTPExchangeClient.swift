package import NIOCore

/// An ``HTTPExchanger`` for tasks: any of them may use it.
package final class HTTPExchangeClient: Sendable {
    private let eventLoop: any EventLoop
    private let exchanger: NIOLoopBoundBox<HTTPExchanger>

    /// Connects to nothing yet.
    package init(configuration: HTTPExchanger.Configuration, eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        self.exchanger = NIOLoopBoundBox.makeBoxSendingValue(
            HTTPExchanger(configuration: configuration, eventLoop: eventLoop), as: HTTPExchanger.self, eventLoop: eventLoop)
    }

    /// Sends a request and waits for the whole answer, of whatever status.
    ///
    /// - Parameter timeout: For all of it together.
    /// - Throws: ``ConnectivityError``; `cancelled` when the task was cancelled, which closes the request's connection.
    package func send(_ request: HTTPExchangeRequest, timeout: Duration) async throws -> HTTPExchangeResponse {
        let (eventLoop, exchanger, canceller) = (self.eventLoop, self.exchanger, Canceller())
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                eventLoop.execute {
                    guard canceller.mayStart else {
                        return continuation.resume(throwing: ConnectivityError(.cancelled, message: "the task was cancelled"))
                    }
                    canceller.id = exchanger.value.send(request, timeout: timeout) { continuation.resume(with: $0) }
                }
            }
        } onCancel: {
            eventLoop.execute {
                canceller.mayStart = false
                if let id = canceller.id { exchanger.value.cancel(id) }
            }
        }
    }

    /// Takes no more requests; those on their way may end by themselves.
    package func finish() {
        let exchanger = self.exchanger
        self.eventLoop.execute { exchanger.value.finish() }
    }
}

/// Carries a request's id to who cancels it.
///
/// Unchecked because: touched on the event loop only.
private final class Canceller: @unchecked Sendable {
    var id: HTTPExchanger.ID?
    var mayStart = true
}
