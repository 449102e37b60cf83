import ApusEventLoop
package import NIOCore

/// An async interface to an ``HTTPExchanger``, usable from any task.
package final class HTTPExchangeClient: Sendable {
    private let exchanger: NIOLoopBoundBox<HTTPExchanger>

    /// Creates a client. Opens no connection.
    package init(configuration: HTTPExchanger.Configuration, eventLoop: any EventLoop) {
        self.exchanger = .sending(HTTPExchanger(configuration: configuration, eventLoop: eventLoop), to: eventLoop)
    }

    /// Sends a request and waits for the complete response, regardless of its status.
    ///
    /// - Parameter timeout: The time limit for the whole exchange.
    /// - Throws: ``ConnectivityError``; `cancelled` if the task is cancelled, which closes the
    ///   request's connection.
    package func send(_ request: HTTPExchangeRequest, timeout: Duration) async throws -> HTTPExchangeResponse {
        let exchanger = self.exchanger
        do {
            return try await withLoopOperation(on: exchanger.eventLoop) { operation in
                let exchanger = exchanger.value
                let id = exchanger.send(request, timeout: timeout) { operation.end(with: $0.mapError { $0 }) }
                operation.whenCancelled { exchanger.cancel(id) }
            }
        } catch is CancellationError {
            throw ConnectivityError(.cancelled, message: "the task was cancelled")
        }
    }

    /// Refuses new requests; pending ones may complete.
    package func finish() {
        self.exchanger.onLoop { $0.finish() }
    }
}
