public import ApusJSON

/// The body of a `bundle`: several forwarded messages in one. Created by the server.
public struct BundleBody: Hashable, Sendable {
    /// The title.
    public var title: String
    /// The messages, in their original order.
    public var items: [BundleItem]

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - title: The title.
    ///   - items: The messages, in their original order.
    public init(title: String, items: [BundleItem]) {
        self.title = title
        self.items = items
    }
}

extension BundleBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.title = try reader.string("title", minimum: 1, maximum: ChatLimits.titleLength)
        self.items = try reader.objects("items", maximum: ChatLimits.bundleMessages)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("title", self.title)
        writer.write("items", all: self.items)
    }
}

extension BundleBody: MessageBody {
    package static var kind: EventKind { .bundle }
    package var label: String? { self.title }
    package var blobs: [BlobID] { self.items.flatMap { (try? ChatBody(kind: $0.kind, body: $0.body))?.blobs ?? [] } }
    package var searchText: String? {
        let texts = self.items.compactMap { (try? ChatBody(kind: $0.kind, body: $0.body))?.searchText }
        return texts.isEmpty ? nil : texts.joined(separator: "\n")
    }
}

/// A message of a bundle.
public struct BundleItem: Hashable, Sendable {
    /// The sender; nil if the message was forwarded anonymously.
    public var sender: UserName?
    /// The shown name of the sender at the time of forwarding; nil if the sender had none.
    public var nick: String?
    /// The time of the message, in milliseconds since 1970.
    public var at: Int64
    /// The kind; never `bundle`.
    public var kind: EventKind
    /// The body of the message.
    public var body: JSONObject

    /// Creates an item.
    ///
    /// - Parameters:
    ///   - sender: The sender; nil if the message was forwarded anonymously.
    ///   - nick: The shown name of the sender at the time of forwarding; nil if the sender had
    ///     none.
    ///   - at: The time of the message, in milliseconds since 1970.
    ///   - kind: The kind; never `bundle`.
    ///   - body: The body of the message.
    public init(sender: UserName? = nil, nick: String? = nil, at: Int64, kind: EventKind, body: JSONObject) {
        self.sender = sender
        self.nick = nick
        self.at = at
        self.kind = kind
        self.body = body
    }
}

extension BundleItem: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.sender = try reader.textIfPresent("sender")
        self.nick = try reader.stringIfPresent("nick", minimum: 1, maximum: ChatLimits.nickLength)
        self.at = try reader.integer("at")
        self.kind = try reader.text("kind")
        self.body = try reader.free("body")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("sender", ifPresent: self.sender)
        writer.write("nick", ifPresent: self.nick)
        writer.write("at", self.at)
        writer.write("kind", self.kind)
        writer.write("body", self.body)
    }
}
