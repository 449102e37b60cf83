import ApusEngineIOProtocol
import ApusEngineIOServer
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@Suite("Engine.IO server: the application's check", .timeLimit(.minutes(5))) struct EngineIOAllowRequestTests {
    private func makeServer(_ allowRequest: @escaping @Sendable (HTTPRequest) async throws -> Void) -> EngineIOServer {
        var configuration = EngineIOServerConfiguration()
        configuration.allowRequest = allowRequest
        return EngineIOServer(configuration: configuration, logger: Logger(label: "test")) { _ in SilentDelegate() }
    }

    @Test func anAllowedRequestOpensASession() async throws {
        let server = self.makeServer { request in #expect(request.path?.hasSuffix("&token=good") == true) }
        let connection = try await EngineTestingChannel(server)
        try await connection.send(.get, "token=good")
        #expect(try await connection.answer().status == 200)
        #expect(server.sessionCount == 1)
    }

    @Test func theApplicationsTextIsAnswered() async throws {
        let server = self.makeServer { _ in throw EngineIOError(.forbidden, message: "not on a Sunday") }
        let connection = try await EngineTestingChannel(server)
        try await connection.send(.get, "")
        #expect(try await connection.answer() == (403, #"{"code":4,"message":"not on a Sunday"}"#))
        #expect(server.sessionCount == 0)
    }

    @Test func anUnexpectedErrorIsNotDisclosed() async throws {
        struct Secret: Error {}
        let server = self.makeServer { _ in throw Secret() }
        let connection = try await EngineTestingChannel(server)
        try await connection.send(.get, "")
        #expect(try await connection.answer() == (403, #"{"code":4,"message":"Forbidden"}"#))
    }

    @Test func onlyHandshakesAreAsked() async throws {
        let asked = NIOLockedValueBox(0)
        let server = self.makeServer { _ in asked.withLockedValue { $0 += 1 } }
        let connection = try await EngineTestingChannel(server)
        let sid = try await connection.handshake()
        try await connection.send(.post, "sid=\(sid)", body: "4a")
        #expect(try await connection.answer() == (200, "ok"))
        #expect(asked.withLockedValue { $0 } == 1)
    }

    @Test func whileItThinksOtherRequestsOfTheConnectionWait() async throws {
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let server = self.makeServer { _ in for await _ in gate { break } }
        let connection = try await EngineTestingChannel(server)
        try await connection.send(.get, "")
        try await connection.send(.get, "sid=nobody")
        #expect(try await connection.isSilent())
        opener.yield()
        #expect(try await connection.answer().status == 200)
        #expect(try await connection.answer().status == 400)
    }

    @Test(arguments: [true, false]) func theClientsLeavingAndTheDeadlineCancelIt(byDeadline: Bool) async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (cancelled, cancel) = AsyncStream.makeStream(of: Void.self)
        let server = self.makeServer { _ in
            begin.yield()
            await withTaskCancellationHandler {
                // Suspends until the task is cancelled.
                for await _ in AsyncStream<Void>.makeStream().stream {}
            } onCancel: {
                cancel.yield()
            }
        }
        let connection = try await EngineTestingChannel(server)
        try await connection.send(.get, "")
        for await _ in begun { break }
        if byDeadline {
            await connection.channel.testingEventLoop.advanceTime(by: .seconds(10))
        } else {
            try await connection.channel.close()
        }
        for await _ in cancelled { break }
        #expect(server.sessionCount == 0)
        #expect(!connection.channel.isActive)
    }
}
