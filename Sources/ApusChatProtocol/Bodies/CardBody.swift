/// The body of a `card` message: a user, to be shown as a business card.
public struct CardBody: Hashable, Sendable {
    /// The user.
    public var user: UserName
    /// The shown name of the user when the message was sent; nil if the user had none.
    public var nick: String?
    /// The origin of a forwarded message; nil for other messages. Set by the server.
    public var forwarded: ForwardedFrom?

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - nick: The shown name of the user when the message was sent; nil if the user had none.
    ///   - forwarded: The origin of a forwarded message; nil for other messages. Set by the server.
    public init(user: UserName, nick: String? = nil, forwarded: ForwardedFrom? = nil) {
        self.user = user
        self.nick = nick
        self.forwarded = forwarded
    }
}

extension CardBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.user = try reader.text("user")
        self.nick = try reader.stringIfPresent("nick", minimum: 1, maximum: ChatLimits.nickLength)
        self.forwarded = try reader.objectIfPresent("forwarded")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("user", self.user)
        writer.write("nick", ifPresent: self.nick)
        writer.write("forwarded", ifPresent: self.forwarded)
    }
}

extension CardBody: MessageBody {
    package static var kind: EventKind { .card }
    package var label: String? { self.nick ?? self.user.rawValue }
    package mutating func removeServerFields() { self.forwarded = nil }
}
