import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusTesting
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

/// An HTTP connection on a thread-safe event loop, for server code that runs in tasks.
struct EngineTestingChannel {
    let channel: NIOAsyncTestingChannel

    init(_ engine: EngineIOServer) async throws {
        let channel = NIOAsyncTestingChannel()
        self.channel = channel
        try await channel.testingEventLoop.executeInContext {
            try channel.pipeline.syncOperations.addHandler(engine.makeHTTPHandler())
        }
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
    }

    func send(_ method: HTTPRequest.Method, _ query: String, body: String? = nil) async throws {
        let path = "/engine.io/?EIO=4&transport=polling&\(query)"
        let request = HTTPRequestHead(
            version: .http1_1, method: .init(rawValue: method.rawValue), uri: path, headers: ["Host": "localhost"])
        try await self.channel.writeInbound(HTTPServerRequestPart.head(request))
        if let body { try await self.channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: body))) }
        try await self.channel.writeInbound(HTTPServerRequestPart.end(nil))
    }

    /// Waits for the next answer.
    func answer() async throws -> (status: Int, body: String) {
        var status = 0
        var body = ""
        while true {
            switch try await self.channel.waitForOutboundWrite(as: HTTPServerResponsePart.self) {
            case .head(let head): status = Int(head.status.code)
            case .body(.byteBuffer(let bytes)): body += String(buffer: bytes)
            case .body(.fileRegion): break
            case .end: return (status, body)
            }
        }
    }

    /// Opens a session and returns its id.
    func handshake() async throws -> String {
        try await self.send(.get, "")
        let answer = try await self.answer()
        return String(try #require(answer.body.firstMatch(of: /"sid":"([^"]+)"/)?.1))
    }

    func isSilent() async throws -> Bool {
        try await self.channel.readOutbound(as: HTTPServerResponsePart.self) == nil
    }
}

/// A delegate that does nothing.
final class SilentDelegate: EngineIOSessionDelegate {
    func sessionOpened(_ session: EngineIOSession) {}
    func session(_ session: EngineIOSession, received message: EngineIOMessage) {}
    func session(_ session: EngineIOSession, closed reason: EngineIOCloseReason) {}
}
