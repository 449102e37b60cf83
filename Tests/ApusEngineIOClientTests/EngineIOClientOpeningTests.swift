import ApusEngineIOProtocol
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import ApusEngineIOClient

/// A connection on an event loop whose clock the test advances.
///
/// `@unchecked Sendable`: used on that loop only.
private final class Client: EngineIOClientDelegate, @unchecked Sendable {
    private var connection: EngineIOClientConnection?
    private(set) var errors: [EngineIOError.Code] = []

    func start(_ configuration: EngineIOClientConfiguration, on eventLoop: any EventLoop) throws {
        self.connection = try EngineIOClientConnection(
            url: "http://127.0.0.1:1", configuration: configuration, eventLoop: eventLoop, logger: Logger(label: "test"), delegate: self)
        self.connection?.start()
    }

    func engineOpened(_ connection: EngineIOClientConnection, handshake: EngineIOHandshake) {}
    func engine(_ connection: EngineIOClientConnection, received message: EngineIOMessage) {}
    func engineClosed(_ connection: EngineIOClientConnection, error: EngineIOError) { self.errors.append(error.code) }
}

@Suite(.timeLimit(.minutes(5))) struct EngineIOClientOpeningTests {
    @Test func aPreparationThatHangsIsNotAReasonForAnotherTransport() async throws {
        let eventLoop = NIOAsyncTestingEventLoop()
        let client = Client()
        var configuration = EngineIOClientConfiguration()
        configuration.tryAllTransports = true
        configuration.prepareAttempt = { _ in try await Task.sleep(for: .seconds(3600)) }  // cancelled at the end of the attempt
        try await eventLoop.executeInContext { [configuration] in try client.start(configuration, on: eventLoop) }
        await eventLoop.advanceTime(by: .seconds(19))
        #expect(try await eventLoop.executeInContext { client.errors } == [])
        await eventLoop.advanceTime(by: .seconds(1))
        #expect(try await eventLoop.executeInContext { client.errors } == [.timeout])
        await eventLoop.shutdownGracefully()
    }
}
