/// The body of a `file` message. The server replaces the size and the type
/// with the values of the file.
public struct FileBody: Hashable, Sendable {
    /// The file.
    public var blob: BlobID
    /// The name of the file, without a path.
    public var name: String
    /// The size in bytes.
    public var size: Int64
    /// The media type.
    public var type: String
    /// The caption; nil if absent.
    public var text: String?
    /// The formats in the caption.
    public var entities: [TextEntity]
    /// The origin of a forwarded message; nil for other messages. Set by the server.
    public var forwarded: ForwardedFrom?

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - blob: The file.
    ///   - name: The name of the file, without a path.
    ///   - size: The size in bytes.
    ///   - type: The media type.
    ///   - text: The caption; nil if absent.
    ///   - entities: The formats in the caption.
    ///   - forwarded: The origin of a forwarded message; nil for other messages. Set by the server.
    public init(
        blob: BlobID, name: String, size: Int64, type: String, text: String? = nil, entities: [TextEntity] = [],
        forwarded: ForwardedFrom? = nil
    ) {
        self.blob = blob
        self.name = name
        self.size = size
        self.type = type
        self.text = text
        self.entities = entities
        self.forwarded = forwarded
    }
}

extension FileBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.blob = try reader.text("blob")
        self.name = try reader.string("name", minimum: 1, maximum: ChatLimits.fileNameLength)
        self.size = try reader.integer("size", in: 0...ChatLimits.fileBytes)
        self.type = try reader.string("type", minimum: 1, maximum: 100)
        self.text = try reader.stringIfPresent("text", minimum: 1, maximum: ChatLimits.captionLength)
        self.entities = try reader.objects("entities", maximum: ChatLimits.entities)
        self.forwarded = try reader.objectIfPresent("forwarded")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("blob", self.blob)
        writer.write("name", self.name)
        writer.write("size", self.size)
        writer.write("type", self.type)
        writer.write("text", ifPresent: self.text)
        writer.write("entities", ifAny: self.entities)
        writer.write("forwarded", ifPresent: self.forwarded)
    }
}

extension FileBody: MessageBody {
    package static var kind: EventKind { .file }
    package var words: (text: String, entities: [TextEntity])? { self.text.map { ($0, self.entities) } }
    package var blobs: [BlobID] { [self.blob] }
    package var label: String? { self.name }

    package func validate() throws(WireError) {
        try MediaRule.validate(type: self.type)
        try MediaRule.validate(name: self.name)
        try EntityRule.validate(self.entities, of: self.text)
    }

    package mutating func removeServerFields() { self.forwarded = nil }
}
