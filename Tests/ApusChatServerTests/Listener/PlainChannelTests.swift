import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import ApusChatServer

struct PlainChannelTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let plain = PlainChannel { _, writer, _ in
        var body = try await writer.writeHead(.init(status: .ok, headerFields: [.contentLength: "2"]))
        try await body.write(ByteBuffer(string: "ok"))
        try await body.finish(nil)
    }

    /// Returns an open connection, which the caller owns.
    private func accepted() async throws -> (NIOAsyncTestingChannel, PlainChannel.Value) {
        let channel = NIOAsyncTestingChannel()
        let value = try await channel.testingEventLoop.flatSubmit { [plain, logger] in plain.setup(channel: channel, logger: logger) }.get()
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        return (channel, value)
    }

    /// Hummingbird's channel would stop the process in this case.
    @Test func aConnectionThatNoTaskHandlesIsClosed() async throws {
        let channel = try await self.accepted().0
        try await channel.closeFuture.get()
    }

    @Test func aRequestIsAnswered() async throws {
        let (channel, value) = try await self.accepted()
        async let handled: Void = self.plain.handle(value: value, logger: self.logger)
        try await channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"))
        var answer = ""
        while !answer.hasSuffix("ok") { answer += String(buffer: try await channel.waitForOutboundWrite(as: ByteBuffer.self)) }
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        try await channel.closeFuture.get()
        await handled
        #expect(value.requests.take() == nil)
    }
}
