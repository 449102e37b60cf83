public import ApusSocketIOServer
import HTTPTypes
public import Tracing

/// The spans of a Socket.IO server, for a backend of swift-distributed-tracing.
///
/// Each run of a handler is a span of the kind `consumer` with the name of the event. An
/// asynchronous handler runs in the context of its span, so that its calls of databases and other
/// servers belong to it. The span records the error that a handler throws.
///
/// The parent of a span is the context in the headers of the client's handshake request, such as
/// `traceparent`, if the tracer finds one there.
public struct SocketIOServerTracing: SocketIOServerObserver {
    private static let contextKey = "apus.observability.context"

    private let tracer: any Tracer

    /// Creates the observer.
    ///
    /// - Parameter tracer: The backend. Default: the one of `InstrumentationSystem`.
    public init(tracer: any Tracer = InstrumentationSystem.tracer) { self.tracer = tracer }

    /// Reads the parent context of the client's handshake request.
    public func connected(_ socket: SocketIOServerSocket) {
        var context = ServiceContext.topLevel
        self.tracer.extract(socket.handshake.headers, into: &context, using: HeaderExtractor())
        socket.setValue(context, for: Self.contextKey)
    }

    /// Runs a handler in a span.
    public func handle(_ event: SocketIOReceivedEvent, on socket: SocketIOServerSocket, _ handler: () throws -> Void) throws {
        try self.tracer.withAnySpan(event.name, context: self.context(of: socket), ofKind: .consumer) { span in
            self.describe(span, event, socket)
            try handler()
        }
    }

    /// Runs an asynchronous handler in a span.
    public func handle(
        _ event: SocketIOReceivedEvent, on socket: SocketIOServerSocket, _ handler: @Sendable () async throws -> Void
    ) async throws {
        try await self.tracer.withAnySpan(event.name, context: self.context(of: socket), ofKind: .consumer) { span in
            self.describe(span, event, socket)
            try await handler()
        }
    }

    private func context(of socket: SocketIOServerSocket) -> ServiceContext {
        socket.value(for: Self.contextKey) ?? .topLevel
    }

    /// Sets the attributes of the OpenTelemetry conventions for messaging.
    private func describe(_ span: any Span, _ event: SocketIOReceivedEvent, _ socket: SocketIOServerSocket) {
        span.updateAttributes { attributes in
            attributes["messaging.system"] = "socket.io"
            attributes["messaging.operation.type"] = "process"
            attributes["messaging.destination.name"] = socket.namespace.name
            attributes["messaging.message.conversation_id"] = socket.id
            attributes["socket.io.wants_ack"] = event.wantsAcknowledgement
        }
    }
}

private struct HeaderExtractor: Extractor {
    func extract(key: String, from headers: HTTPFields) -> String? { HTTPField.Name(key).flatMap { headers[$0] } }
}
