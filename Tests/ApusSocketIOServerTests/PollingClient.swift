import ApusSocketIOServer
import ApusTesting
import HTTPTypes
import Testing

/// One polling client, packet by packet: what it posts, what its polls bring.
final class PollingClient {
    let http: EmbeddedHTTPConnection
    private let path: String
    private var pollIsHeld = false

    /// - Parameter http: The connection to use; its event loop is the client's. Default: one of its own.
    init(_ server: SocketIOServer, over http: EmbeddedHTTPConnection? = nil) throws {
        self.http = try http ?? EmbeddedHTTPConnection(server.channelHandlers())
        let answer = try #require(try self.http.exchange(.get, "/socket.io/?EIO=4&transport=polling&a=b"))
        let sid = try #require(answer.body.firstMatch(of: /"sid":"([^"]+)"/)?.1)
        self.path = "/socket.io/?EIO=4&transport=polling&sid=\(sid)"
    }

    /// The status of a POST with these Socket.IO packets.
    @discardableResult func post(_ packets: String...) throws -> Int? {
        let body = packets.map { $0.hasPrefix("b") ? $0 : "4" + $0 }.joined(separator: "\u{1e}")
        return try self.http.exchange(.post, self.path, body: body)?.status
    }

    /// The Socket.IO packets that wait, without their Engine.IO type; ids become `ID`. Empty while there are none.
    func poll() throws -> [String] {
        let answer = self.pollIsHeld ? try self.http.answer() : try self.http.exchange(.get, self.path)
        self.pollIsHeld = answer == nil
        guard let answer else { return [] }
        guard answer.status == 200 else { return ["HTTP \(answer.status)"] }
        return answer.body.split(separator: "\u{1e}").map { packet in
            packet.hasPrefix("4")
                ? String(packet.dropFirst()).replacing(/"sid":"[A-Za-z0-9_-]{20}"/, with: "\"sid\":\"ID\"") : String(packet)
        }
    }

    func connect(_ packet: String = "0") throws {
        try self.post(packet)
        #expect(try self.poll().first?.contains("\"sid\":\"ID\"") == true)
    }

    func pass(_ time: Duration) { self.http.pass(time) }
}
