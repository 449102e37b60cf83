/// The newest event of a conversation, as a list of conversations shows it.
public struct EventPreview: Hashable, Sendable {
    /// The position in the log.
    public var seq: Int64
    /// The ordinal of the message; nil for a change.
    public var n: Int64?
    /// The sender; nil for a hidden event and for an event of the server.
    public var sender: UserName?
    /// The time, in milliseconds since 1970.
    public var at: Int64
    /// The kind. It determines what the list shows if there is no text.
    public var kind: EventKind
    /// The state of the content.
    public var state: EventState
    /// The beginning of the text or caption, or of another label: the name of the file, the place
    /// or the user, the question of the poll, or the title of the bundle. Nil if there is no text.
    public var text: String?
    /// The users affected by a change, at most 10.
    public var users: [UserName]
    /// The state of a call; nil for other kinds.
    public var call: CallState?
    /// The media of a call; nil for other kinds.
    public var media: CallMedia?
    /// Whether the event is a voice message.
    public var isVoice: Bool
    /// The duration of an accepted call that has ended, or of an audio recording, in milliseconds;
    /// nil for other events.
    public var duration: Int64?

    package init(
        seq: Int64, n: Int64?, sender: UserName?, at: Int64, kind: EventKind, state: EventState = .normal, text: String? = nil,
        users: [UserName] = [], call: CallState? = nil, media: CallMedia? = nil, isVoice: Bool = false, duration: Int64? = nil
    ) {
        self.seq = seq
        self.n = n
        self.sender = sender
        self.at = at
        self.kind = kind
        self.state = state
        self.text = text
        self.users = users
        self.call = call
        self.media = media
        self.isVoice = isVoice
        self.duration = duration
    }
}

extension EventPreview: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.seq = try reader.integer("seq")
        self.n = try reader.integerIfPresent("n", in: WireReader.seqs)
        self.sender = try reader.textIfPresent("sender")
        self.at = try reader.integerIfPresent("at") ?? 0
        self.kind = try reader.text("kind")
        self.state = try reader.choiceIfPresent("state") ?? .normal
        self.text = try reader.stringIfPresent("text", maximum: ChatLimits.previewLength)
        self.users = try reader.texts("users", maximum: ChatLimits.previewUsers)
        self.call = try reader.choiceIfPresent("call")
        self.media = try reader.choiceIfPresent("media")
        self.isVoice = try reader.bool("voice")
        self.duration = try reader.integerIfPresent("duration")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("seq", self.seq)
        writer.write("n", ifPresent: self.n)
        writer.write("sender", ifPresent: self.sender)
        if self.at != 0 { writer.write("at", self.at) }
        writer.write("kind", self.kind)
        if self.state != .normal { writer.write("state", self.state) }
        writer.write("text", ifPresent: self.text)
        writer.write("users", ifAny: self.users)
        writer.write("call", ifPresent: self.call)
        writer.write("media", ifPresent: self.media)
        writer.write("voice", ifTrue: self.isVoice)
        writer.write("duration", ifPresent: self.duration)
    }
}
