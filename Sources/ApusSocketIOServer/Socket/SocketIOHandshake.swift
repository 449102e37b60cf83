import ApusEngineIOProtocol
import ApusEngineIOServer
public import ApusJSON
public import ApusSocketIOProtocol
import Foundation
public import HTTPTypes
import NIOCore

/// What a client said when it connected.
public struct SocketIOHandshake: Sendable {
    /// The auth of the CONNECT packet; an empty object when the client sent none.
    public let auth: SocketIOValue
    /// The query of the handshake request, decoded.
    public let query: [String: String]
    /// The fields of the handshake request.
    public let headers: HTTPFields
    /// The address of the peer, for example `127.0.0.1`; empty when there is none.
    public let address: String
    /// The path and query of the handshake request. It may hold a secret of the client's: do not log it.
    public let url: String
    /// When the socket's CONNECT arrived, by this server's clock, in milliseconds since 1970.
    public let issued: Int64

    init(session: EngineIOSession, auth: SocketIOValue) {
        let url = session.request.path ?? ""
        self.auth = auth
        self.query = session.request.query.fields
        self.headers = session.request.headerFields
        self.address = session.remoteAddress?.ipAddress ?? ""
        self.url = url
        self.issued = Int64(Date().timeIntervalSince1970 * 1000)
    }
}

/// Thrown by middleware to refuse a connection; the client's `connect_error` carries both fields.
public struct SocketIOConnectionRefusal: Error, Hashable, Sendable {
    /// For the reader.
    public var message: String
    /// For the program; left out of the packet when `nil`.
    public var data: SocketIOValue?

    /// - Parameters:
    ///   - message: For the reader.
    ///   - data: For the program.
    public init(message: String, data: SocketIOValue? = nil) {
        self.message = message
        self.data = data
    }
}
