package import ApusEngineIOProtocol
import ApusJSON

/// A revision of the Socket.IO protocol. What differs between revisions stands here; the packets are the same.
///
/// Source: Socket.IO protocol v5, "History"; v4 as Socket.IO 2.x servers and clients speak it.
package struct SocketIOVersion: Hashable, Sendable {
    /// The number of the revision.
    package let number: UInt8

    /// Socket.IO 3.x and 4.x.
    package static let v5 = Self(number: 5)
    /// Socket.IO 2.x.
    package static let v4 = Self(number: 4)

    private init(number: UInt8) { self.number = number }

    /// The revision that travels over this one of Engine.IO.
    package init(over engine: EngineIOVersion) {
        self = engine == .v3 ? .v4 : .v5
    }

    /// Whether a client is in `/` as soon as its connection stands, without asking.
    package var joinsRootUnasked: Bool { self == .v4 }

    /// What a client asks for: in version 4 the namespace carries a query, `/admin?token=1`, which is its auth.
    package func admission(namespace: String, auth: SocketIOValue?) -> (namespace: String, auth: SocketIOValue) {
        guard self == .v4, let mark = namespace.firstIndex(of: "?") else { return (namespace, auth ?? .object([:])) }
        let query = QueryString(namespace[namespace.index(after: mark)...])
        let members = query.fields.sorted { $0.key < $1.key }.map { (key: $0.key, value: SocketIOValue.string($0.value)) }
        return (String(namespace[..<mark]), .object(JSONObject(members)))
    }

    /// How a client asks for a namespace. In version 4 the auth goes into the query, as far as it is text, numbers and truth values; `/` has none.
    package func request(namespace: String, auth: SocketIOValue?) -> SocketIOPacket {
        guard self == .v4 else { return SocketIOPacket(namespace: namespace, content: .connect(auth)) }
        let members = (namespace == "/" ? nil : auth?.objectValue) ?? [:]
        let fields = members.compactMap { member in
            Self.queryText(member.value).map { "\(QueryString.percentEncoded(member.key))=\(QueryString.percentEncoded($0))" }
        }
        let query = fields.isEmpty ? "" : "?" + fields.joined(separator: "&")
        return SocketIOPacket(namespace: namespace + query, content: .connect(nil))
    }

    private static func queryText(_ value: SocketIOValue) -> String? {
        switch value {
        case .string(let text): text
        case .integer(let number): String(number)
        case .double(let number): String(number)
        case .bool(let value): String(value)
        case .null, .binary, .date, .array, .object: nil
        }
    }

    /// The id of a socket when the revision derives it from the connection's: both sides of version 4 compute it, so it is not sent.
    package func socketID(engineID: @autoclosure () -> String, namespace: String) -> String? {
        guard self == .v4 else { return nil }
        return namespace == "/" ? engineID() : "\(namespace)#\(engineID())"
    }

    /// The server's yes.
    ///
    /// - Parameters:
    ///   - sid: The socket's id.
    ///   - pid: The id under which the socket can come back, if it can.
    ///   - offset: Where its history begins. The reference gives none, and then cannot bring back a client that never got an event.
    package func grant(sid: String, pid: String? = nil, offset: SocketIOOffset? = nil) -> SocketIOPacket.Content {
        guard self != .v4 else { return .connect(nil) }
        var answer: JSONObject = ["sid": .string(sid)]
        answer["pid"] = pid.map { .string($0) }
        answer["offset"] = offset.map { .string($0.description) }
        return .connect(.object(answer))
    }

    /// Whether a client can come back as the socket it was.
    package var hasRecovery: Bool { self == .v5 }

    /// The server's no. Version 4 has room for the data or the message, not for both.
    package func refusal(message: String, data: SocketIOValue? = nil) -> SocketIOPacket.Content {
        if self == .v4 { return .connectError(data ?? .string(message)) }
        var answer: JSONObject = ["message": .string(message)]
        answer["data"] = data
        return .connectError(.object(answer))
    }
}
