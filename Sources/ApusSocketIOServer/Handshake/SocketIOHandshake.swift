import ApusBytes
import ApusEngineIOProtocol
import ApusEngineIOServer
public import ApusJSON
public import ApusSocketIOProtocol
import ApusWebSocket
import Foundation
public import HTTPTypes
import NIOCore

/// The data of a client's handshake.
public struct SocketIOHandshake: Sendable {
    /// The auth of the CONNECT packet; an empty object when the client sent none. Each access
    /// decodes it again.
    public var auth: SocketIOValue { self.storedAuth.value }
    private let storedAuth: SocketIOStoredAuth
    /// The query of the handshake request. Each access decodes it again.
    public var query: [String: String] { self.receivedFields?.query ?? self.request.request.query.fields }
    /// The header fields of the handshake request. Each access builds them again.
    public var headers: HTTPFields { self.request.request.headerFields }
    /// The handshake request, with its authority. Each access builds it again.
    package var head: HTTPRequest { self.request.request }
    /// The address of the peer, for example `127.0.0.1`; empty when it is unknown.
    public var address: String { self.receivedFields?.address ?? self.remoteAddress?.ipAddress ?? "" }
    /// Whether the handshake request has an `Origin` field, like `xdomain` of socket.io for Node.
    /// Browsers send the field with every WebSocket handshake, also for the same origin.
    public let isCrossDomain: Bool
    /// Whether the request arrived over TLS that this server terminates.
    public let isSecure: Bool
    /// The path and query of the handshake request. Do not log it: it may contain a secret of the
    /// client.
    public var url: String { self.request.request.path ?? "" }
    /// The time at which the socket's CONNECT arrived, by this server's clock, in milliseconds
    /// since 1970.
    public let issued: Int64
    /// The compact form of the request, shared with the session.
    private let request: StoredRequest
    /// The peer's address, from the session.
    private let remoteAddress: SocketAddress?
    private let receivedFields: ReceivedFields?

    /// The fields that another server sent.
    private final class ReceivedFields: Sendable {
        let query: [String: String]
        let address: String

        init(query: [String: String], address: String) {
            self.query = query
            self.address = address
        }
    }

    /// `issued` in JavaScript's text form in UTC: `Sat Nov 21 2026 19:10:26 GMT+0000 (Coordinated
    /// Universal Time)`.
    public var time: String { JavaScriptDate(millisecondsSince1970: self.issued).description }

    /// The current time in the unit of ``issued``.
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    init(session: EngineIOSession, auth: SocketIOStoredAuth, issued: Int64) {
        self.storedAuth = auth
        self.request = session.storedRequest
        self.remoteAddress = session.remoteAddress
        self.receivedFields = nil
        self.isCrossDomain = session.namesOrigin
        self.isSecure = session.isSecure
        self.issued = issued
    }
}

// The format of a handshake between servers and on the admin page, as in socket.io for Node.
extension SocketIOHandshake {
    var value: SocketIOValue {
        var headers = JSONObject()
        for field in self.headers {
            let name = field.name.canonicalName
            // Repeated fields are combined into one list (RFC 9110 section 5.3).
            headers[name] = .string(headers[name]?.stringValue.map { "\($0), \(field.value)" } ?? field.value)
        }
        return [
            "headers": .object(headers), "time": .string(self.time), "address": .string(self.address),
            "xdomain": .bool(self.isCrossDomain), "secure": .bool(self.isSecure), "issued": .integer(self.issued),
            "url": .string(self.url),
            "query": .object(JSONObject(self.query.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })), "auth": self.auth,
        ]
    }

    /// Decodes the handshake that another server sent. Fields that are missing or of another type
    /// become empty.
    init(value: SocketIOValue) {
        self.storedAuth = SocketIOStoredAuth(value["auth"] ?? [:])
        var query: [String: String] = [:]
        for member in value["query"]?.objectValue ?? [:] { query[member.key] = member.value.stringValue }
        self.remoteAddress = nil
        self.receivedFields = ReceivedFields(query: query, address: value["address"]?.stringValue ?? "")
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

/// An error that middleware throws to refuse a connection. The client's `connect_error` contains
/// the message and the data. `allowRequest` may also throw this error; the response then contains
/// the message only.
public struct SocketIOConnectionRefusal: Error, Hashable, Sendable {
    /// The text for users: `message` of the client's error.
    public var message: String
    /// The data for programs: `data` of the client's error. `nil` omits it from the packet.
    public var data: SocketIOValue?

    /// Creates a refusal.
    ///
    /// - Parameters:
    ///   - message: The text for users.
    ///   - data: The data for programs. Default: none.
    public init(message: String, data: SocketIOValue? = nil) {
        self.message = message
        self.data = data
    }
}

/// The auth of a client in a compact encoding, because it is stored as long as the socket and
/// rarely read. As a `SocketIOValue`, `[[0],[0],…]` requires twenty times the size of its text.
struct SocketIOStoredAuth: Sendable {
    /// The value as MessagePack, which supports binary data; empty for an empty object.
    private let bytes: [UInt8]

    init(_ value: SocketIOValue) {
        var buffer = ByteBuffer()
        if value != [:] {
            // A value that was decoded can be encoded: it has no NaN and is within the decoder's
            // depth limit.
            do throws(SocketIOError) { try MessagePack.write(value, into: &buffer) } catch { buffer.clear() }
        }
        self.bytes = Array(buffer.readableBytesView)
    }

    var value: SocketIOValue {
        guard !self.bytes.isEmpty else { return [:] }
        do throws(SocketIOError) { return try MessagePack.read(ByteBuffer(bytes: self.bytes)) } catch { return [:] }
    }
}
