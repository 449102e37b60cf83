import ApusEngineIOProtocol
import ApusSocketIOServer
import ApusTesting
import HTTPTypes
import Testing

/// A polling client on an embedded event loop. It posts and polls Socket.IO packets.
final class PollingClient {
    let http: EmbeddedHTTPConnection
    private let path: String
    /// The id of its Engine.IO session.
    let sid: String
    private let version: Int
    private var pollIsHeld = false

    /// - Parameters:
    ///   - version: The Engine.IO version. A client of version 3 can poll text only;
    ///     `SocketIO2ClientTests` covers the rest.
    ///   - http: The connection to use. Its event loop is the client's. Default: a new connection.
    init(_ server: SocketIOServer, version: Int = 4, over http: EmbeddedHTTPConnection? = nil) throws {
        self.version = version
        self.http = try http ?? EmbeddedHTTPConnection(server.channelHandlers())
        let answer = try #require(try self.http.exchange(.get, "/socket.io/?EIO=\(version)&transport=polling&a=b"))
        self.sid = String(try #require(answer.body.firstMatch(of: /"sid":"([^"]+)"/)?.1))
        self.path = "/socket.io/?EIO=\(version)&transport=polling&sid=\(self.sid)"
    }

    /// Posts these Socket.IO packets and returns the status.
    @discardableResult func post(_ packets: String...) throws -> Int? {
        let body = packets.map { $0.hasPrefix("b") ? $0 : "4" + $0 }.joined(separator: "\u{1e}")
        return try self.http.exchange(.post, self.path, body: body)?.status
    }

    /// Returns the pending Socket.IO packets without their Engine.IO type; empty if there are none.
    /// Replaces ids by `ID` unless `keepingIDs` is set.
    func poll(keepingIDs: Bool = false) throws -> [String] {
        let answer = self.pollIsHeld ? try self.http.answer() : try self.http.exchange(.get, self.path)
        self.pollIsHeld = answer == nil
        guard let answer else { return [] }
        guard answer.status == 200 else { return ["HTTP \(answer.status)"] }
        return pollingPackets(answer.body, version: self.version).map { packet in
            guard packet.hasPrefix("4") else { return packet }
            let packet = String(packet.dropFirst())
            return keepingIDs ? packet : packet.replacing(/"sid":"[A-Za-z0-9_-]{20}"/, with: "\"sid\":\"ID\"")
        }
    }

    func connect(_ packet: String = "0") throws {
        try self.post(packet)
        #expect(try self.poll().first?.contains("\"sid\":\"ID\"") == true)
    }

    /// Closes the Engine.IO session, as a client does when its page is closed: its sockets are
    /// lost, not disconnected.
    func lose() throws { _ = try self.http.exchange(.post, self.path, body: "1") }

    func pass(_ time: Duration) { self.http.pass(time) }
}
