package import NIOCore

/// An async interface to an ``HTTPExchanger``, usable from any task.
package final class HTTPExchangeClient: Sendable {
    private let eventLoop: any EventLoop
    private let exchanger: NIOLoopBoundBox<HTTPExchanger>

    /// Creates a client. Opens no connection.
    package init(configuration: HTTPExchanger.Configuration, eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        self.exchanger = NIOLoopBoundBox.makeBoxSendingValue(
            HTTPExchanger(configuration: configuration, eventLoop: eventLoop), as: HTTPExchanger.self, eventLoop: eventLoop)
    }

    /// Sends a request and waits for the complete response, regardless of its status.
    ///
    /// - Parameter timeout: The time limit for the whole exchange.
    /// - Throws: ``ConnectivityError``; `cancelled` if the task is cancelled, which closes the
    ///   request's connection.
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

    /// Refuses new requests; pending ones may complete.
    package func finish() {
        let exchanger = self.exchanger
        self.eventLoop.execute { exchanger.value.finish() }
    }
}

/// Passes a request's id to the cancellation handler.
///
/// Unchecked because: accessed on the event loop only.
private final class Canceller: @unchecked Sendable {
    var id: HTTPExchanger.ID?
    var mayStart = true
}
