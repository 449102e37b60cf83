import ApusObservability
import ApusSocketIOServer
import InMemoryTracing
import Logging
import NIOConcurrencyHelpers
import Testing
import Tracing

@Suite("Observability: traces", .timeLimit(.minutes(5))) struct SocketIOServerTracingTests {
    private struct Failure: Error {}

    private let tracer = InMemoryTracer()
    /// The ids of the spans in whose context the handler of `now` ran.
    private let contexts = NIOLockedValueBox<[String?]>([])

    private func server() -> SocketIOServer {
        var configuration = SocketIOServerConfiguration()
        configuration.observers = [SocketIOServerTracing(tracer: self.tracer)]
        configuration.onHandlerError = { _, _, _ in }
        let server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
        server.namespace("/").onConnection { [tracer, contexts] socket in
            socket.on("now") { () in
                contexts.withLockedValue { $0.append(ServiceContext.current?.inMemorySpanContext?.spanID) }
                tracer.withSpan("query") { _ in }
            }
            socket.on("bad") { () throws in throw Failure() }
            socket.on("later") { () async in
                await Task.yield()
                tracer.withSpan("read") { _ in }
            }
        }
        return server
    }

    private func span(_ name: String) throws -> FinishedInMemorySpan {
        try #require(self.tracer.finishedSpans.first { $0.operationName == name })
    }

    @Test func aHandlerRunsInTheContextOfItsSpan() throws {
        let socket = try PollingSocket(self.server())
        try socket.post(#"421["now"]"#)
        let span = try self.span("now")
        #expect(span.kind == .consumer && span.parentSpanID == nil && span.errors.isEmpty)
        #expect(try self.span("query").parentSpanID == span.spanID)
        #expect(self.contexts.withLockedValue { $0 } == [span.spanID])
        #expect(span.attributes.get("messaging.system") == .string("socket.io"))
        #expect(span.attributes.get("messaging.destination.name") == .string("/"))
        #expect(span.attributes.get("socket.io.wants_ack") == .bool(true))
        try socket.post(#"42["unknown"]"#)
        #expect(self.tracer.finishedSpans.count == 2, "an event without a handler has no span")
    }

    @Test func theErrorOfAHandlerIsRecorded() throws {
        try PollingSocket(self.server()).post(#"42["bad"]"#)
        let span = try self.span("bad")
        #expect(span.errors.count == 1 && span.errors.first?.error is Failure)
    }

    @Test func theHeadersOfTheHandshakeNameTheParent() throws {
        let headers = [InMemoryTracer.traceIDKey: "trace", InMemoryTracer.spanIDKey: "parent"]
        try PollingSocket(self.server(), headers: headers).post(#"42["now"]"#)
        let span = try self.span("now")
        #expect(span.traceID == "trace" && span.parentSpanID == "parent")
    }

    @Test func anAsynchronousHandlerHasASpanToo() async throws {
        let socket = try PollingSocket(self.server())
        try socket.post(#"42["later"]"#)
        while !self.tracer.finishedSpans.contains(where: { $0.operationName == "later" }) { await Task.yield() }
        #expect(try self.span("read").parentSpanID == self.span("later").spanID)
    }
}
