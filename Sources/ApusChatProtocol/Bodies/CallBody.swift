/// The body of a `call`. Created by the server, which updates it until the call has ended.
public struct CallBody: Hashable, Sendable {
    /// `audio` or `video`.
    public var media: CallMedia
    /// The state.
    public var state: CallState
    /// The time from acceptance to the end, in milliseconds; nil unless the state is `ended`.
    public var duration: Int64?

    /// The kind of the media server of the call, such as `livekit`; nil if the devices connect to
    /// each other.
    public var backend: String?

    package init(media: CallMedia, state: CallState, duration: Int64? = nil, backend: String? = nil) {
        self.backend = backend
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
        self.backend = try reader.stringIfPresent("backend", minimum: 1, maximum: 40)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("media", self.media)
        writer.write("state", self.state)
        writer.write("duration", ifPresent: self.duration)
        writer.write("backend", ifPresent: self.backend)
    }
}

extension CallBody: MessageBody {
    package static var kind: EventKind { .call }
}

/// The media of a call.
public enum CallMedia: String, WireChoice {
    /// Audio only.
    case audio
    /// Audio and video.
    case video
    /// A medium that a later version defines.
    case unknown
}

/// The state of a call.
public enum CallState: String, WireChoice {
    /// The devices of the recipients ring.
    case ringing
    /// The call was accepted and is running.
    case accepted
    /// The call was accepted and has ended.
    case ended
    /// No device answered, or the caller ended the call first.
    case missed
    /// A recipient declined the call.
    case declined
    /// The recipient was in another call.
    case busy
    /// A state that a later version defines.
    case unknown
}
