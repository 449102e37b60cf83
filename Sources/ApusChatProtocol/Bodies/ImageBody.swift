/// The body of an `image` message. The server replaces the size and the type with the values of the
/// file. It also replaces the dimensions if it can determine them, and adds a missing BlurHash.
public struct ImageBody: Hashable, Sendable {
    /// The picture.
    public var blob: BlobID
    /// The width in pixels, after the orientation is applied.
    public var width: Int64
    /// The height in pixels, after the orientation is applied.
    public var height: Int64
    /// The size in bytes.
    public var size: Int64
    /// The media type.
    public var type: String
    /// A BlurHash, which is shown while the picture is loaded; nil if absent.
    public var thumb: String?
    /// The name of the file; nil if it is not given.
    public var name: String?
    /// A text that messages have in common if they are shown together as an album; nil outside an
    /// album.
    public var album: String?
    /// The caption; nil if absent.
    public var text: String?
    /// The formats in the caption.
    public var entities: [TextEntity]
    /// The origin of a forwarded message; nil for other messages. Set by the server.
    public var forwarded: ForwardedFrom?

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - blob: The picture.
    ///   - width: The width in pixels, after the orientation is applied.
    ///   - height: The height in pixels, after the orientation is applied.
    ///   - size: The size in bytes.
    ///   - type: The media type.
    ///   - thumb: A BlurHash, which is shown while the picture is loaded; nil if absent.
    ///   - name: The name of the file; nil if it is not given.
    ///   - album: A text that messages have in common if they are shown together as an album; nil
    ///     outside an album.
    ///   - text: The caption; nil if absent.
    ///   - entities: The formats in the caption.
    ///   - forwarded: The origin of a forwarded message; nil for other messages. Set by the server.
    public init(
        blob: BlobID, width: Int64, height: Int64, size: Int64, type: String, thumb: String? = nil, name: String? = nil,
        album: String? = nil, text: String? = nil, entities: [TextEntity] = [], forwarded: ForwardedFrom? = nil
    ) {
        self.blob = blob
        self.width = width
        self.height = height
        self.size = size
        self.type = type
        self.thumb = thumb
        self.name = name
        self.album = album
        self.text = text
        self.entities = entities
        self.forwarded = forwarded
    }
}

extension ImageBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.blob = try reader.text("blob")
        self.width = try reader.integer("width", in: 1...ChatLimits.imageSide)
        self.height = try reader.integer("height", in: 1...ChatLimits.imageSide)
        self.size = try reader.integer("size", in: 1...ChatLimits.fileBytes)
        self.type = try reader.string("type", minimum: 1, maximum: 100)
        self.thumb = try reader.stringIfPresent("thumb", minimum: 1, maximum: 200)
        self.name = try reader.stringIfPresent("name", minimum: 1, maximum: ChatLimits.fileNameLength)
        self.album = try reader.stringIfPresent("album", minimum: 1, maximum: 36)
        self.text = try reader.stringIfPresent("text", minimum: 1, maximum: ChatLimits.captionLength)
        self.entities = try reader.objects("entities", maximum: ChatLimits.entities)
        self.forwarded = try reader.objectIfPresent("forwarded")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("blob", self.blob)
        writer.write("width", self.width)
        writer.write("height", self.height)
        writer.write("size", self.size)
        writer.write("type", self.type)
        writer.write("thumb", ifPresent: self.thumb)
        writer.write("name", ifPresent: self.name)
        writer.write("album", ifPresent: self.album)
        writer.write("text", ifPresent: self.text)
        writer.write("entities", ifAny: self.entities)
        writer.write("forwarded", ifPresent: self.forwarded)
    }
}

extension ImageBody: MessageBody {
    package static var kind: EventKind { .image }
    package var words: (text: String, entities: [TextEntity])? { self.text.map { ($0, self.entities) } }
    package var blobs: [BlobID] { [self.blob] }
    package func validate() throws(WireError) {
        try MediaRule.validate(type: self.type, of: "image/")
        try MediaRule.validate(name: self.name)
        try EntityRule.validate(self.entities, of: self.text)
    }

    package mutating func removeServerFields() { self.forwarded = nil }
}
