public import ApusJSON

/// The body of `edit`.
public struct EditBody: Hashable, Sendable {
    /// The new body of the message.
    public var body: JSONObject

    package init(body: JSONObject) {
        self.body = body
    }
}

extension EditBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.body = try reader.free("body")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("body", self.body)
    }
}

/// The body of `preview`. Created by the server; clients cannot send it.
public struct PreviewBody: Hashable, Sendable {
    /// The preview of the first link in the text; nil removes the preview.
    public var preview: LinkPreview?

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - preview: The preview of the first link in the text; nil removes the preview.
    public init(preview: LinkPreview? = nil) {
        self.preview = preview
    }
}

extension PreviewBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.preview = try reader.objectIfPresent("preview")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("preview", ifPresent: self.preview)
    }
}

/// The body of `react`.
public struct ReactBody: Hashable, Sendable {
    /// The reaction.
    public var key: String
    /// Whether the reaction is removed.
    public var isRemoval: Bool

    package init(key: String, isRemoval: Bool = false) {
        self.key = key
        self.isRemoval = isRemoval
    }
}

extension ReactBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.key = try reader.string("key", minimum: 1, maximum: ChatLimits.reactionLength)
        self.isRemoval = try reader.bool("remove")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("key", self.key)
        writer.write("remove", ifTrue: self.isRemoval)
    }
}

/// The body of `vote`.
public struct VoteBody: Hashable, Sendable {
    /// The indices of the chosen options; empty for a withdrawn vote and in an anonymous poll.
    public var options: [Int64]

    package init(options: [Int64] = []) {
        self.options = options
    }
}

extension VoteBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.options = try reader.integers("options", maximum: ChatLimits.pollOptions)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("options", ifAny: self.options)
    }
}

/// The body of `pin`.
public struct PinBody: Hashable, Sendable {
    /// Whether the message is unpinned.
    public var isRemoval: Bool

    package init(isRemoval: Bool = false) {
        self.isRemoval = isRemoval
    }
}

extension PinBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.isRemoval = try reader.bool("remove")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("remove", ifTrue: self.isRemoval)
    }
}

/// The body of `call.update`.
public struct CallUpdateBody: Hashable, Sendable {
    /// The new state.
    public var state: CallState
    /// The time from acceptance to the end, in milliseconds; nil unless the state is `ended`.
    public var duration: Int64?

    package init(state: CallState, duration: Int64? = nil) {
        self.state = state
        self.duration = duration
    }
}

extension CallUpdateBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.state = try reader.choice("state")
        self.duration = try reader.integerIfPresent("duration")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("state", self.state)
        writer.write("duration", ifPresent: self.duration)
    }
}
