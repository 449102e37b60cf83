import ApusEngineIOProtocol
import ApusEngineIOServer
public import ApusJSON
public import ApusSocketIOProtocol
import ApusWebSocket
import Foundation
public import HTTPTypes
import NIOCore

/// What a client said when it connected.
public struct SocketIOHandshake: Sendable {
    /// The auth of the CONNECT packet, decoded each time it is asked for; an empty object when the client sent none.
    public var auth: SocketIOValue { self.storedAuth.value }
    private let storedAuth: SocketIOStoredAuth
    /// The query of the handshake request, decoded, each time it is asked for.
    public var query: [String: String] { self.stated?.query ?? self.request.request.query.fields }
    /// The fields of the handshake request, put together each time they are asked for.
    public var headers: HTTPFields { self.request.request.headerFields }
    /// The address of the peer, for example `127.0.0.1`; empty when there is none.
    public var address: String { self.stated?.address ?? self.remoteAddress?.ipAddress ?? "" }
    /// Whether the request came from a page of another origin, as far as an `Origin` field says so.
    public let isCrossDomain: Bool
    /// Whether the request came over TLS that ends at this server.
    public let isSecure: Bool
    /// The path and query of the handshake request. It may hold a secret of the client's: do not log it.
    public var url: String { self.request.request.path ?? "" }
    /// When the socket's CONNECT arrived, by this server's clock, in milliseconds since 1970.
    public let issued: Int64
    /// Shared with the session, in the form that takes least.
    private let request: StoredRequest
    /// The session's.
    private let remoteAddress: SocketAddress?
    private let stated: Stated?

    /// What another server said.
    private final class Stated: Sendable {
        let query: [String: String]
        let address: String

        init(query: [String: String], address: String) {
            self.query = query
            self.address = address
        }
    }

    /// `issued` in words, as JavaScript writes a date in UTC: `Sat Nov 21 2026 19:10:26 GMT+0000 (Coordinated Universal Time)`.
    public var time: String { JavaScriptDate(millisecondsSince1970: self.issued).description }

    /// The time by this server's clock, as ``issued`` has it.
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    init(session: EngineIOSession, auth: SocketIOStoredAuth, issued: Int64) {
        self.storedAuth = auth
        self.request = session.storedRequest
        self.remoteAddress = session.remoteAddress
        self.stated = nil
        self.isCrossDomain = session.namesOrigin
        self.isSecure = session.isSecure
        self.issued = issued
    }
}

// The form in which servers tell each other of their sockets, and the admin page of them: the reference server's.
extension SocketIOHandshake {
    var value: SocketIOValue {
        var headers = JSONObject()
        for field in self.headers {
            let name = field.name.canonicalName
            // A field that is there twice is one list, as HTTP says.
            headers[name] = .string(headers[name]?.stringValue.map { "\($0), \(field.value)" } ?? field.value)
        }
        return [
            "headers": .object(headers), "time": .string(self.time), "address": .string(self.address),
            "xdomain": .bool(self.isCrossDomain), "secure": .bool(self.isSecure), "issued": .integer(self.issued),
            "url": .string(self.url),
            "query": .object(JSONObject(self.query.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })), "auth": self.auth,
        ]
    }

    /// Reads what another server said; what is missing or of another type is empty.
    init(value: SocketIOValue) {
        self.storedAuth = SocketIOStoredAuth(value["auth"] ?? [:])
        var query: [String: String] = [:]
        for member in value["query"]?.objectValue ?? [:] { query[member.key] = member.value.stringValue }
        self.remoteAddress = nil
        self.stated = Stated(query: query, address: value["address"]?.stringValue ?? "")
        var headers = HTTPFields()
        for member in value["headers"]?.objectValue ?? [:] {
            guard let name = HTTPField.Name(member.key), let text = member.value.stringValue else { continue }
            headers.append(HTTPField(name: name, value: text))
        }
        self.request = StoredRequest(
            HTTPRequest(method: .get, scheme: nil, authority: nil, path: value["url"]?.stringValue ?? "", headerFields: headers))
        self.isCrossDomain = value["xdomain"]?.boolValue ?? false
        self.isSecure = value["secure"]?.boolValue ?? false
        self.issued = value["issued"]?.doubleValue.flatMap { Int64(exactly: $0.rounded()) } ?? 0
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
