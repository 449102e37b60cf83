/// The body of an `audio` message. The server replaces the size and the type with the values of the
/// file. It also replaces the duration if it can determine the duration.
public struct AudioBody: Hashable, Sendable {
    /// The recording.
    public var blob: BlobID
    /// The size in bytes.
    public var size: Int64
    /// The media type.
    public var type: String
    /// The duration in milliseconds.
    public var duration: Int64
    /// Whether the recording is a voice message.
    public var isVoice: Bool
    /// The loudness of up to 100 parts of equal duration, as two hexadecimal digits each; nil if it
    /// is not given.
    public var wave: String?
    /// The name of the file; nil if it is not given.
    public var name: String?
    /// The caption; nil if absent.
    public var text: String?
    /// The formats in the caption.
    public var entities: [TextEntity]
    /// The origin of a forwarded message; nil for other messages. Set by the server.
    public var forwarded: ForwardedFrom?

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - blob: The recording.
    ///   - size: The size in bytes.
    ///   - type: The media type.
    ///   - duration: The duration in milliseconds.
    ///   - isVoice: Whether the recording is a voice message.
    ///   - wave: The loudness of up to 100 parts of equal duration, as two hexadecimal digits each;
    ///     nil if it is not given.
    ///   - name: The name of the file; nil if it is not given.
    ///   - text: The caption; nil if absent.
    ///   - entities: The formats in the caption.
    ///   - forwarded: The origin of a forwarded message; nil for other messages. Set by the server.
    public init(
        blob: BlobID, size: Int64, type: String, duration: Int64, isVoice: Bool = false, wave: String? = nil, name: String? = nil,
        text: String? = nil, entities: [TextEntity] = [], forwarded: ForwardedFrom? = nil
    ) {
        self.blob = blob
        self.size = size
        self.type = type
        self.duration = duration
        self.isVoice = isVoice
        self.wave = wave
        self.name = name
        self.text = text
        self.entities = entities
        self.forwarded = forwarded
    }
}

extension AudioBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.blob = try reader.text("blob")
        self.size = try reader.integer("size", in: 1...ChatLimits.fileBytes)
        self.type = try reader.string("type", minimum: 1, maximum: 100)
        self.duration = try reader.integer("duration", in: 0...ChatLimits.mediaMilliseconds)
        self.isVoice = try reader.bool("voice")
        self.wave = try reader.stringIfPresent("wave", minimum: 1, maximum: 200)
        self.name = try reader.stringIfPresent("name", minimum: 1, maximum: ChatLimits.fileNameLength)
        self.text = try reader.stringIfPresent("text", minimum: 1, maximum: ChatLimits.captionLength)
        self.entities = try reader.objects("entities", maximum: ChatLimits.entities)
        self.forwarded = try reader.objectIfPresent("forwarded")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("blob", self.blob)
        writer.write("size", self.size)
        writer.write("type", self.type)
        writer.write("duration", self.duration)
        writer.write("voice", ifTrue: self.isVoice)
        writer.write("wave", ifPresent: self.wave)
        writer.write("name", ifPresent: self.name)
        writer.write("text", ifPresent: self.text)
        writer.write("entities", ifAny: self.entities)
        writer.write("forwarded", ifPresent: self.forwarded)
    }
}

extension AudioBody: MessageBody {
    package static var kind: EventKind { .audio }
    package var words: (text: String, entities: [TextEntity])? { self.text.map { ($0, self.entities) } }
    package var blobs: [BlobID] { [self.blob] }
    package var label: String? { self.name }
    package func validate() throws(WireError) {
        try MediaRule.validate(type: self.type, of: "audio/")
        try MediaRule.validate(name: self.name)
        try EntityRule.validate(self.entities, of: self.text)
    }

    package mutating func removeServerFields() { self.forwarded = nil }
}
