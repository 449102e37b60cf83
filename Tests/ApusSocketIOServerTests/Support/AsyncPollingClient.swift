import ApusEngineIOProtocol
import ApusSocketIOServer
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

/// A polling client on an event loop that other threads may use, for server code that runs in
/// tasks. One request at a time.
final class AsyncPollingClient: Sendable {
    private let channel: NIOAsyncTestingChannel
    private let path: String
    /// The id of its Engine.IO session.
    let sid: String
    private let version: Int

    init(_ server: SocketIOServer, version: Int = 4) async throws {
        let channel = NIOAsyncTestingChannel()
        try await channel.testingEventLoop.executeInContext {
            try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
            for handler in server.channelHandlers() { try channel.pipeline.syncOperations.addHandler(handler) }
        }
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
        self.channel = channel
        self.version = version
        let path = "/socket.io/?EIO=\(version)&transport=polling"
        let answer = try await Self.exchange(channel, .get, path)
        #expect(answer.status == 200)
        self.sid = String(try #require(answer.body.firstMatch(of: /"sid":"([^"]+)"/)?.1))
        self.path = path + "&sid=\(self.sid)"
    }

    /// Sends Socket.IO packets.
    func post(_ packets: String...) async throws {
        let packets = packets.map { "4" + $0 }
        let body = self.version == 3 ? packets.map { "\($0.utf16.count):\($0)" }.joined() : packets.joined(separator: "\u{1e}")
        #expect(try await Self.exchange(self.channel, .post, self.path, body: body).status == 200)
    }

    /// Joins `/`.
    func connect() async throws {
        try await self.post("0")
        #expect(try await self.poll().first?.hasPrefix(#"0{"sid":""#) == true)
    }

    /// Polls until the session ends, and returns the packets. The last is Engine.IO's close packet,
    /// `1`.
    func packetsUntilClose() async throws -> [String] {
        var packets: [String] = []
        while packets.last != "1" {
            packets += try await self.poll()
            if packets.last?.hasPrefix("HTTP") == true { break }
        }
        return packets
    }

    /// Waits for Socket.IO packets and returns them without their Engine.IO type.
    func poll() async throws -> [String] {
        let answer = try await Self.exchange(self.channel, .get, self.path)
        guard answer.status == 200 else { return ["HTTP \(answer.status)"] }
        return pollingPackets(answer.body, version: self.version).map { $0.hasPrefix("4") ? String($0.dropFirst()) : $0 }
    }

    /// Closes the Engine.IO session, as a client does when its page is closed: its sockets are
    /// lost, not disconnected.
    func lose() async throws {
        _ = try await Self.exchange(self.channel, .post, self.path, body: "1")
    }

    /// Runs a closure on the client's event loop.
    func execute(_ work: @escaping @Sendable () -> Void) { self.channel.eventLoop.execute(work) }

    /// Advances the time of the client's event loop.
    func pass(_ time: TimeAmount) async { await self.channel.testingEventLoop.advanceTime(by: time) }

    private static func exchange(
        _ channel: NIOAsyncTestingChannel, _ method: HTTPRequest.Method, _ path: String, body: String? = nil
    ) async throws -> (status: Int, body: String) {
        let head = HTTPRequestHead(
            version: .http1_1, method: .init(rawValue: method.rawValue), uri: path, headers: ["Host": "localhost:3000"])
        try await channel.testingEventLoop.executeInContext {
            let decoder = try channel.pipeline.syncOperations.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self)
            decoder.fireChannelRead(NIOAny(HTTPServerRequestPart.head(head)))
            if let body { decoder.fireChannelRead(NIOAny(HTTPServerRequestPart.body(ByteBuffer(string: body)))) }
            decoder.fireChannelRead(NIOAny(HTTPServerRequestPart.end(nil)))
            decoder.fireChannelReadComplete()
        }
        var (status, answer) = (0, "")
        while true {
            switch try await channel.waitForOutboundWrite(as: HTTPServerResponsePart.self) {
            case .head(let head): status = Int(head.status.code)
            case .body(.byteBuffer(let bytes)): answer += String(buffer: bytes)
            case .body(.fileRegion): break
            case .end: return (status, answer)
            }
        }
    }
}

/// Splits a polling payload into packets; for version 3, a text payload.
func pollingPackets(_ body: String, version: Int) -> [String] {
    guard version == 3 else { return body.split(separator: "\u{1e}").map(String.init) }
    var (rest, packets) = (body[...], [String]())
    while let colon = rest.firstIndex(of: ":"), let length = Int(rest[..<colon]) {
        let packet = rest[rest.index(after: colon)...].prefix(length)
        packets.append(String(packet))
        rest = rest[packet.endIndex...]
    }
    return packets
}
