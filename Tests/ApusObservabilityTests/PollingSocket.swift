import ApusSocketIOServer
import ApusTesting
import HTTPTypes
import Testing

/// A client of the namespace `/` that polls, on an embedded event loop.
struct PollingSocket {
    let http: EmbeddedHTTPConnection
    private let path: String
    private let fields: HTTPFields

    /// - Parameter headers: Additional fields of each request.
    init(_ server: SocketIOServer, headers: [String: String] = [:]) throws {
        var fields = HTTPFields()
        for (name, value) in headers { try fields.append(HTTPField(name: #require(HTTPField.Name(name)), value: value)) }
        self.fields = fields
        self.http = try EmbeddedHTTPConnection(server.channelHandlers())
        let path = "/socket.io/?EIO=4&transport=polling"
        let answer = try #require(try self.http.exchange(.get, path, fields: fields))
        self.path = path + "&sid=" + String(try #require(answer.body.firstMatch(of: /"sid":"([^"]+)"/)?.1))
        try self.post("40")
    }

    /// Sends one packet of Engine.IO.
    func post(_ packet: String) throws {
        #expect(try self.http.exchange(.post, self.path, fields: self.fields, body: packet)?.status == 200)
    }
}
