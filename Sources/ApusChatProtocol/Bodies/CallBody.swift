/// The body of a `call`. The server creates it and changes it until the call has ended.
public struct CallBody: Hashable, Sendable {
    /// `audio` or `video`.
    public var media: CallMedia
    /// The state.
    public var state: CallState
    /// The time from acceptance to the end, in milliseconds.
    public var duration: Int64?

    /// Creates a value.
    public init(media: CallMedia, state: CallState, duration: Int64? = nil) {
        self.media = media
        self.state = state
        self.duration = duration
    }
}

extension CallBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.media = try reader.choice("media")
        self.state = try reader.choice("state")
        self.duration = try reader.integerIfPresent("duration")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("media", self.media)
        writer.write("state", self.state)
        writer.write("duration", ifPresent: self.duration)
    }
}

extension CallBody: MessageBody {
    package static var kind: EventKind { .call }
    package static var isSendable: Bool { false }
}

/// What a call transmits.
public enum CallMedia: String, WireChoice {
    /// Sound.
    case audio
    /// Sound and picture.
    case video
    /// Something of a later version.
    case unknown
}

/// The state of a call.
public enum CallState: String, WireChoice {
    /// The devices of the recipients ring.
    case ringing
    /// The call takes place.
    case accepted
    /// The call took place and has ended.
    case ended
    /// No device answered, or the caller ended the call first.
    case missed
    /// A recipient declined.
    case declined
    /// The recipient was in another call.
    case busy
    /// A state of a later version.
    case unknown
}
