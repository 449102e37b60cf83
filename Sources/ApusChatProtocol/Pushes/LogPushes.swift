/// The push `event`: new events of one conversation, in the order of `seq`.
package struct EventPush: Hashable, WireObject {
    package var events: [ChatEvent]
    /// Whether the client should suppress the notification.
    package var isSilent: Bool
    /// The `seq` up to which changes are applied to the events; nil for the `seq` of the last
    /// event.
    package var asOf: Int64?

    package init(events: [ChatEvent], isSilent: Bool = false, asOf: Int64? = nil) {
        self.events = events
        self.isSilent = isSilent
        self.asOf = asOf
    }

    package init(from reader: WireReader) throws(WireError) {
        self.events = try reader.objects("events", maximum: ChatLimits.historyEvents)
        self.isSilent = try reader.bool("silent")
        self.asOf = try reader.integerIfPresent("as_of", in: WireReader.seqs)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("events", all: self.events)
        writer.write("silent", ifTrue: self.isSilent)
        writer.write("as_of", ifPresent: self.asOf)
    }
}

/// The newest position of a log, without the events. The server sends a nudge instead of events
/// that it does not push, and repeats it some time after the last event of the conversation.
package struct HeadNudge: Hashable, WireObject {
    package var conversation: ConversationID
    package var seq: Int64
    package var n: Int64
    package var at: Int64
    /// The number of unread messages that mention the recipient; nil if it did not change.
    package var mentions: Int64?
    package var last: EventPreview?

    package init(conversation: ConversationID, seq: Int64, n: Int64, at: Int64, mentions: Int64? = nil, last: EventPreview? = nil) {
        self.conversation = conversation
        self.seq = seq
        self.n = n
        self.at = at
        self.mentions = mentions
        self.last = last
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.seq = try reader.integer("seq")
        self.n = try reader.integer("n")
        self.at = try reader.integer("at")
        self.mentions = try reader.integerIfPresent("mentions")
        self.last = try reader.objectIfPresent("last")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("seq", self.seq)
        writer.write("n", self.n)
        writer.write("at", self.at)
        writer.write("mentions", ifPresent: self.mentions)
        writer.write("last", ifPresent: self.last)
    }
}

/// The push `head`: changed heads. It is sent at most once a second on each connection.
package struct HeadPush: Hashable, WireObject {
    /// The heads of new conversations, and of conversations whose title, members, settings or
    /// counters changed for reasons other than new events.
    package var heads: [ChatHead]
    package var nudges: [HeadNudge]
    /// The conversations that are no longer in the user's list.
    package var gone: [ConversationID]

    package init(heads: [ChatHead] = [], nudges: [HeadNudge] = [], gone: [ConversationID] = []) {
        self.heads = heads
        self.nudges = nudges
        self.gone = gone
    }

    package init(from reader: WireReader) throws(WireError) {
        self.heads = try reader.objects("heads", maximum: ChatLimits.headsPage)
        self.nudges = try reader.objects("nudges", maximum: ChatLimits.conversations)
        self.gone = try reader.texts("gone", maximum: ChatLimits.conversations)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("heads", ifAny: self.heads)
        writer.write("nudges", ifAny: self.nudges)
        writer.write("gone", ifAny: self.gone)
    }
}
