/// The body of a `text` message.
public struct TextBody: Hashable, Sendable {
    /// The text. Clients show it literally, never as markup.
    public var text: String
    /// The formats, links and mentions in the text.
    public var entities: [TextEntity]
    /// The preview of the first link; nil if absent. Set by the server.
    public var preview: LinkPreview?
    /// The origin of a forwarded message; nil for other messages. Set by the server.
    public var forwarded: ForwardedFrom?

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - text: The text. Clients show it literally, never as markup.
    ///   - entities: The formats, links and mentions in the text.
    ///   - preview: The preview of the first link; nil if absent. Set by the server.
    ///   - forwarded: The origin of a forwarded message; nil for other messages. Set by the server.
    public init(text: String, entities: [TextEntity] = [], preview: LinkPreview? = nil, forwarded: ForwardedFrom? = nil) {
        self.text = text
        self.entities = entities
        self.preview = preview
        self.forwarded = forwarded
    }
}

extension TextBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.text = try reader.string("text", minimum: 1, maximum: ChatLimits.textLength)
        self.entities = try reader.objects("entities", maximum: ChatLimits.entities)
        self.preview = try reader.objectIfPresent("preview")
        self.forwarded = try reader.objectIfPresent("forwarded")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("text", self.text)
        writer.write("entities", ifAny: self.entities)
        writer.write("preview", ifPresent: self.preview)
        writer.write("forwarded", ifPresent: self.forwarded)
    }
}

extension TextBody: MessageBody {
    package static var kind: EventKind { .text }
    package var words: (text: String, entities: [TextEntity])? { (self.text, self.entities) }
    package var blobs: [BlobID] { self.preview?.blob.map { [$0] } ?? [] }

    package func validate() throws(WireError) {
        guard self.text.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else {
            throw WireError(.invalid, field: "text", rule: "must contain a character other than white space")
        }
        try EntityRule.validate(self.entities, of: self.text)
    }

    package mutating func removeServerFields() {
        self.preview = nil
        self.forwarded = nil
    }
}

/// The preview of the page to which a link leads.
public struct LinkPreview: Hashable, Sendable {
    /// The address of the page.
    public var url: String
    /// The title of the page; nil if it has none.
    public var title: String?
    /// The description of the page; nil if it has none.
    public var text: String?
    /// The name of the site; nil if it is not given.
    public var site: String?
    /// The blob of a picture of the page; nil if absent.
    public var blob: BlobID?
    /// The width of the picture, in pixels; nil if it is not known.
    public var width: Int64?
    /// The height of the picture, in pixels; nil if it is not known.
    public var height: Int64?

    /// Creates a preview.
    ///
    /// - Parameters:
    ///   - url: The address of the page.
    ///   - title: The title of the page; nil if it has none.
    ///   - text: The description of the page; nil if it has none.
    ///   - site: The name of the site; nil if it is not given.
    ///   - blob: The blob of a picture of the page; nil if absent.
    ///   - width: The width of the picture, in pixels; nil if it is not known.
    ///   - height: The height of the picture, in pixels; nil if it is not known.
    public init(
        url: String, title: String? = nil, text: String? = nil, site: String? = nil, blob: BlobID? = nil, width: Int64? = nil,
        height: Int64? = nil
    ) {
        self.url = url
        self.title = title
        self.text = text
        self.site = site
        self.blob = blob
        self.width = width
        self.height = height
    }
}

extension LinkPreview: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.url = try reader.string("url", minimum: 1, maximum: 2_000)
        self.title = try reader.stringIfPresent("title", minimum: 1, maximum: 300)
        self.text = try reader.stringIfPresent("text", minimum: 1, maximum: ChatLimits.captionLength)
        self.site = try reader.stringIfPresent("site", minimum: 1, maximum: 100)
        self.blob = try reader.textIfPresent("blob")
        self.width = try reader.integerIfPresent("width", in: 1...ChatLimits.imageSide)
        self.height = try reader.integerIfPresent("height", in: 1...ChatLimits.imageSide)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("url", self.url)
        writer.write("title", ifPresent: self.title)
        writer.write("text", ifPresent: self.text)
        writer.write("site", ifPresent: self.site)
        writer.write("blob", ifPresent: self.blob)
        writer.write("width", ifPresent: self.width)
        writer.write("height", ifPresent: self.height)
    }
}

/// The origin of a forwarded message.
public struct ForwardedFrom: Hashable, Sendable {
    /// The sender of the original message; nil if it was forwarded anonymously.
    public var sender: UserName?
    /// The shown name of the sender at the time of forwarding; nil if the sender had none.
    public var nick: String?
    /// The time of the original message, in milliseconds since 1970.
    public var at: Int64

    /// Creates an origin.
    ///
    /// - Parameters:
    ///   - sender: The sender of the original message; nil if it was forwarded anonymously.
    ///   - nick: The shown name of the sender at the time of forwarding; nil if the sender had
    ///     none.
    ///   - at: The time of the original message, in milliseconds since 1970.
    public init(sender: UserName? = nil, nick: String? = nil, at: Int64) {
        self.sender = sender
        self.nick = nick
        self.at = at
    }
}

extension ForwardedFrom: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.sender = try reader.textIfPresent("sender")
        self.nick = try reader.stringIfPresent("nick", minimum: 1, maximum: ChatLimits.nickLength)
        self.at = try reader.integer("at")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("sender", ifPresent: self.sender)
        writer.write("nick", ifPresent: self.nick)
        writer.write("at", self.at)
    }
}
