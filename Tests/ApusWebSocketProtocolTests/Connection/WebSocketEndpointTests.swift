import ApusWebSocketProtocol
import NIOCore
import Testing

/// Two endpoints that exchange bytes without a transport.
@Suite struct WebSocketEndpointTests {
    private static func client() -> WebSocketEndpoint { .client { 0x3d21_fa37 } }

    /// Passes the output of `one` to `other` in pieces of `size` bytes, and returns the events.
    private static func pass(
        _ one: inout WebSocketEndpoint, to other: inout WebSocketEndpoint, size: Int = .max
    ) -> [WebSocketEndpoint.Event] {
        var output = one.takeOutput()
        var events: [WebSocketEndpoint.Event] = []
        while let piece = output.readSlice(length: min(size, output.readableBytes)), piece.readableBytes > 0 {
            events += other.receive(piece)
        }
        return events
    }

    @Test(arguments: [1, 3, .max]) func messagesArriveInPiecesOfAnySize(size: Int) {
        var (client, server) = (Self.client(), WebSocketEndpoint.server())
        let messages: [WebSocketMessage] = [
            "", "héllo", .binary([0, 255]), .text(String(repeating: "é", count: 70_000)), .binary(ByteBuffer()),
        ]
        for message in messages { client.send(message) }
        #expect(Self.pass(&client, to: &server, size: size) == messages.map { .message($0) })
        for message in messages { server.send(message) }
        #expect(Self.pass(&server, to: &client, size: size) == messages.map { .message($0) })
        #expect(server.isOpen && client.isOpen && server.takeOutput().readableBytes == 0)
    }

    @Test func aPingIsAnswered() throws {
        var (client, server) = (Self.client(), WebSocketEndpoint.server())
        try client.ping(ByteBuffer(string: "a"))
        #expect(Self.pass(&client, to: &server, size: 1) == [.ping(ByteBuffer(string: "a"))])
        #expect(Self.pass(&server, to: &client) == [.pong(ByteBuffer(string: "a"))])
        let error = #expect(throws: WebSocketError.self) { try client.ping(ByteBuffer(repeating: 0, count: 126)) }
        #expect(error?.code == .invalidUse && client.takeOutput().readableBytes == 0)
    }

    @Test func bothEndsClose() {
        var (client, server) = (Self.client(), WebSocketEndpoint.server())
        client.close(code: .goingAway, reason: "bye")
        client.send("too late")
        #expect(!client.isOpen && !client.isFinished)
        #expect(Self.pass(&client, to: &server) == [.closed(code: .goingAway, reason: "bye")])
        #expect(server.isFinished)
        #expect(Self.pass(&server, to: &client) == [.closed(code: .goingAway, reason: "")])
        #expect(client.isFinished && client.receive(ByteBuffer(string: "x")).isEmpty)
        #expect(client.transportEnded() == nil && server.transportEnded() == nil)
    }

    @Test func aReasonThatMustNotBeSentIsOmitted() {
        var (client, server) = (Self.client(), WebSocketEndpoint.server())
        server.close(code: .normalClosure, reason: "a\nb")
        #expect(Self.pass(&server, to: &client) == [.closed(code: .normalClosure, reason: "")])
        var other = WebSocketEndpoint.server()
        other.close(code: .abnormalClosure)
        var third = Self.client()
        #expect(Self.pass(&other, to: &third) == [.closed(code: nil, reason: "")])
    }

    @Test func invalidBytesFailTheConnection() throws {
        var (client, server) = (Self.client(), WebSocketEndpoint.server())
        let events = server.receive(ByteBuffer(bytes: [0x81, 0x01, 0x61]))  // not masked
        guard case .failed(let error)? = events.first else { throw self.error(events) }
        #expect(events.count == 1 && error.code == .protocolViolation && server.isFinished)
        #expect(Self.pass(&server, to: &client) == [.closed(code: .protocolError, reason: error.message)])
        #expect(server.transportEnded() == nil)
    }

    @Test func anEndWithoutACloseFrameIsAFailure() throws {
        var server = WebSocketEndpoint.server()
        guard case .failed(let error)? = server.transportEnded() else { throw self.error([]) }
        #expect(error.code == .connectionLost && server.isFinished)
    }

    private func error(_ events: [WebSocketEndpoint.Event]) -> WebSocketError {
        WebSocketError(.invalidUse, message: "unexpected events: \(events)")
    }
}
