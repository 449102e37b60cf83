package import ApusEngineIOProtocol
public import ApusJSON

/// A revision of the Socket.IO protocol. It defines the differences between the revisions, except
/// those of the packet format.
///
/// Source: Socket.IO protocol v5, "History"; v4 as implemented by Socket.IO 2.x.
public struct SocketIOVersion: Hashable, Sendable {
    /// The revision number.
    public let number: UInt8

    /// Socket.IO 3.x and 4.x.
    public static let v5 = Self(number: 5)
    /// Socket.IO 2.x.
    public static let v4 = Self(number: 4)

    private init(number: UInt8) { self.number = number }

    /// Creates the revision that is used over a revision of Engine.IO.
    package init(over engine: EngineIOVersion) {
        self = engine == .v3 ? .v4 : .v5
    }

    /// Whether the server connects a new client to `/` without a CONNECT from the client.
    @usableFromInline
    package var joinsRootImplicitly: Bool { self == .v4 }

    /// Returns the namespace and the auth of a client's CONNECT. In version 4, the auth is the
    /// query of the namespace, as in `/admin?token=1`.
    @usableFromInline
    package func admission(namespace: String, auth: SocketIOValue?) -> (namespace: String, auth: SocketIOValue) {
        guard self == .v4, let mark = namespace.firstIndex(of: "?") else { return (namespace, auth ?? .object([:])) }
        let query = QueryString(namespace[namespace.index(after: mark)...])
        let members = query.fields.sorted { $0.key < $1.key }.map { (key: $0.key, value: SocketIOValue.string($0.value)) }
        return (String(namespace[..<mark]), .object(JSONObject(members)))
    }

    /// Returns a client's CONNECT. In version 4, the query of the namespace contains the strings,
    /// numbers and Booleans of the auth; `/` has no query.
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

    /// Returns the id of a socket if the revision derives it from the Engine.IO session id;
    /// otherwise `nil`. In version 4, both sides derive the id, so it is not sent.
    package func socketID(engineID: @autoclosure () -> String, namespace: String) -> String? {
        guard self == .v4 else { return nil }
        return namespace == "/" ? engineID() : "\(namespace)#\(engineID())"
    }

    /// Returns the content of the CONNECT with which a server accepts a client.
    ///
    /// - Parameters:
    ///   - sid: The socket's id.
    ///   - pid: The private id for recovery, if the server offers recovery.
    ///   - offset: The end of the history when the client joined. Node's Socket.IO does not send
    ///     the offset, and therefore cannot recover a client that has received no event.
    package func grant(sid: String, pid: String? = nil, offset: SocketIOOffset? = nil) -> SocketIOPacket.Content {
        guard self != .v4 else { return .connect(nil) }
        var answer: JSONObject = ["sid": .string(sid)]
        answer["pid"] = pid.map { .string($0) }
        answer["offset"] = offset.map { .string($0.description) }
        return .connect(.object(answer))
    }

    /// Whether the revision has connection state recovery.
    package var hasRecovery: Bool { self == .v5 }

    /// Returns the content of CONNECT_ERROR. In version 4, it is the data or, without data, the
    /// message.
    package func refusal(message: String, data: SocketIOValue? = nil) -> SocketIOPacket.Content {
        if self == .v4 { return .connectError(data ?? .string(message)) }
        var answer: JSONObject = ["message": .string(message)]
        answer["data"] = data
        return .connectError(.object(answer))
    }
}
