import HTTPTypes
import Hummingbird
import Logging
import NIOEmbedded
import Testing

@testable import ApusChatServer

@Suite struct MeasuringResponderTests {
    private struct Fault: Error {}

    private func respond(_ metrics: ServerMetrics, _ body: @escaping @Sendable () throws -> Response) async throws -> Response {
        let base = CallbackResponder<BasicRequestContext> { _, _ in try body() }
        let request = Request(
            head: HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/"), body: RequestBody(buffer: .init()))
        let source = ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: Logger(label: "test"))
        return try await MeasuringResponder(base: base, metrics: metrics)
            .respond(to: request, context: BasicRequestContext(source: source))
    }

    @Test func eachResponseIsCountedOnceByItsStatus() async throws {
        let metrics = ServerMetrics()
        for status in [HTTPResponse.Status.ok, .noContent, .notFound] {
            #expect(try await self.respond(metrics) { Response(status: status) }.status == status)
        }
        await #expect(throws: Fault.self) { try await self.respond(metrics) { throw Fault() } }
        let text = metrics.text(.init(clients: 0, isWritable: true, uptimeSeconds: 0))
        for (status, count) in [("2xx", 2), ("4xx", 1), ("5xx", 1)] {
            #expect(text.contains("\napus_chat_http_responses_total{status=\"\(status)\"} \(count)\n"))
        }
        #expect(text.contains("\napus_chat_http_response_seconds_count 4\n"))
    }
}
