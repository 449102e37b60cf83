import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import ApusWebSocket

/// Byte-level tests with a responder that answers on demand.
@Suite struct HTTPRequestGuardTests {
    /// Records its events, and answers each request immediately or on demand.
    private final class Responder: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        let answersAtOnce: Bool
        var log: [String] = []
        private var context: ChannelHandlerContext?

        init(answersAtOnce: Bool) { self.answersAtOnce = answersAtOnce }

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch self.unwrapInboundIn(data) {
            case .head(let head): self.log.append(head.uri)
            case .body: break
            case .end: if self.answersAtOnce { self.answer() }
            }
        }

        func channelReadComplete(context: ChannelHandlerContext) { self.log.append("complete") }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { self.log.append("\(type(of: error))") }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case ChannelEvent.inputClosed? = event as? ChannelEvent { self.log.append("closed") }
        }

        func answer() {
            guard let context else { return }
            let path = self.log.last { $0.hasPrefix("/") } ?? ""
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": String(path.utf8.count)])
            context.write(self.wrapOutboundOut(.head(head)), promise: nil)
            context.write(self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: path)))), promise: nil)
            context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    /// Counts the reads from the socket.
    private final class Reads: ChannelOutboundHandler {
        typealias OutboundIn = Any
        var count = 0

        func read(context: ChannelHandlerContext) {
            self.count += 1
            context.read()
        }
    }

    private struct Connection {
        let channel = EmbeddedChannel()
        let responder: Responder
        let reads = Reads()

        init(answersAtOnce: Bool = true, isAlone: Bool = true) throws {
            self.responder = Responder(answersAtOnce: answersAtOnce)
            let logger = Logger(label: "test")
            try self.channel.pipeline.syncOperations.addHandlers([
                self.reads, HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder()),
                HTTPRequestGuard(isAlone: isAlone, logger: logger), self.responder,
            ])
            try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        func send(_ text: String) throws {
            try self.channel.writeInbound(ByteBuffer(string: text))
            self.channel.embeddedEventLoop.run()
        }

        func written() throws -> String {
            var text = ""
            while let bytes = try self.channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
            return text
        }

        /// Returns the bodies of the responses.
        func bodies() throws -> [String] {
            try self.written().split(separator: "HTTP/1.1 ").map { $0.split(separator: "\r\n\r\n").dropFirst().last.map(String.init) ?? "" }
        }
    }

    private func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n" }

    @Test func pipelinedRequestsAreAnsweredInOrder() throws {
        let connection = try Connection()
        try connection.send((1...500).map { self.get("/\($0)") }.joined())
        #expect(try connection.bodies() == (1...500).map { "/\($0)" })
    }

    @Test func eachIsPassedOnWithTheEndOfARead() throws {
        let connection = try Connection(answersAtOnce: false)
        try connection.send(self.get("/1") + self.get("/2") + self.get("/3"))
        for path in ["/1", "/2", "/3"] {
            #expect(connection.responder.log == [path, "complete"])
            connection.responder.log.removeAll { $0 == "complete" }
            connection.responder.answer()
            #expect(try connection.bodies() == [path])
            connection.responder.log.removeFirst()
        }
    }

    @Test func whileARequestIsUnansweredTheSocketIsNotRead() throws {
        let connection = try Connection(answersAtOnce: false)
        try connection.send(self.get("/1") + self.get("/2"))
        let count = connection.reads.count
        connection.channel.read()
        connection.channel.read()
        #expect(connection.reads.count == count)
        connection.responder.answer()
        #expect(connection.reads.count == count)
        connection.responder.answer()
        #expect(connection.reads.count == count + 1)
    }

    @Test func aRefusalStatesItsReason() throws {
        let connection = try Connection()
        try connection.send(self.get("/1") + "GET /2 HTTP/1.1\r\n\r\n" + self.get("/3"))
        let text = try connection.written()
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(text.contains("HTTP/1.1 400 Bad Request\r\n"))
        #expect(text.hasSuffix("Connection: close\r\n\r\nA request must have exactly one Host field, not 0.\n"))
        #expect(connection.responder.log.filter { $0.hasPrefix("/") } == ["/1"])
        #expect(!connection.channel.isActive)
        let head = try Connection()
        try head.send("HEAD /2 HTTP/1.1\r\n\r\n")
        #expect(try head.written().hasSuffix("\r\n\r\n"))
    }

    @Test(arguments: [true, false]) func aTruncatedBodyIsReportedToTheResponder(isAlone: Bool) throws {
        let connection = try Connection(isAlone: isAlone)
        try connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(try connection.written().hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(connection.responder.log == ["/", "complete"] + (isAlone ? [] : ["HTTPParserError"]))
        // A response after the refusal is dropped.
        connection.responder.answer()
        #expect(try connection.written() == "")
    }

    @Test func aClientThatHasClosedItsSideGetsItsResponses() throws {
        let connection = try Connection(answersAtOnce: false, isAlone: false)
        try connection.send(self.get("/1") + self.get("/2"))
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(connection.responder.log == ["/1", "complete"])
        connection.responder.answer()
        #expect(connection.responder.log == ["/1", "complete", "/2", "closed", "complete"])
    }
}
