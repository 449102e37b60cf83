public import ApusJSON

/// `schedule`: stores a message that the server sends at a later time.
package struct ScheduleRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// The kind of the message.
    package var kind: EventKind
    package var body: JSONObject
    /// The `seq` of the message to which this message replies; nil if it is not a reply.
    package var ref: Int64?
    /// The `seq` of the message that began the thread; nil outside of threads.
    package var thread: Int64?
    /// Whether to send without notifying the recipients.
    package var isSilent: Bool
    /// The time at which the message is sent, in milliseconds since 1970; at most one year ahead.
    package var sendAt: Int64

    package init(
        id: ClientID, conversation: ConversationID, kind: EventKind, body: JSONObject, ref: Int64? = nil, thread: Int64? = nil,
        isSilent: Bool = false, sendAt: Int64
    ) {
        self.id = id
        self.conversation = conversation
        self.kind = kind
        self.body = body
        self.ref = ref
        self.thread = thread
        self.isSilent = isSilent
        self.sendAt = sendAt
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.kind = try reader.text("kind")
        self.body = try reader.free("body")
        self.ref = try reader.integerIfPresent("ref", in: WireReader.seqs)
        self.thread = try reader.integerIfPresent("thread", in: WireReader.seqs)
        self.isSilent = try reader.bool("silent")
        self.sendAt = try reader.integer("send_at")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("kind", self.kind)
        writer.write("body", self.body)
        writer.write("ref", ifPresent: self.ref)
        writer.write("thread", ifPresent: self.thread)
        writer.write("silent", ifTrue: self.isSilent)
        writer.write("send_at", self.sendAt)
    }
}

/// A message that the server will send later.
public struct ScheduledMessage: Hashable, Sendable, WireObject {
    /// The id of the request that scheduled the message.
    public var id: ClientID
    /// The conversation.
    public var conversation: ConversationID
    /// The kind of the message.
    public var kind: EventKind
    /// The body.
    public var body: JSONObject
    /// The `seq` of the message to which this message replies; nil if it is not a reply.
    public var ref: Int64?
    /// The `seq` of the message that began the thread; nil outside of threads.
    public var thread: Int64?
    /// Whether to send without notifying the recipients.
    public var isSilent: Bool
    /// The time at which the message is sent, in milliseconds since 1970.
    public var sendAt: Int64
    /// The error with which the server refused to send the message; nil if it did not refuse.
    public var error: ChatError.Code?

    package init(
        id: ClientID, conversation: ConversationID, kind: EventKind, body: JSONObject, ref: Int64? = nil, thread: Int64? = nil,
        isSilent: Bool = false, sendAt: Int64, error: ChatError.Code? = nil
    ) {
        self.id = id
        self.conversation = conversation
        self.kind = kind
        self.body = body
        self.ref = ref
        self.thread = thread
        self.isSilent = isSilent
        self.sendAt = sendAt
        self.error = error
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.kind = try reader.text("kind")
        self.body = try reader.free("body")
        self.ref = try reader.integerIfPresent("ref", in: WireReader.seqs)
        self.thread = try reader.integerIfPresent("thread", in: WireReader.seqs)
        self.isSilent = try reader.bool("silent")
        self.sendAt = try reader.integer("send_at")
        self.error = try reader.choiceIfPresent("error")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("kind", self.kind)
        writer.write("body", self.body)
        writer.write("ref", ifPresent: self.ref)
        writer.write("thread", ifPresent: self.thread)
        writer.write("silent", ifTrue: self.isSilent)
        writer.write("send_at", self.sendAt)
        writer.write("error", ifPresent: self.error)
    }
}

/// The answer to `schedule`.
package struct ScheduleAnswer: Hashable, WireObject {
    /// The stored message.
    package var scheduled: ScheduledMessage

    package init(scheduled: ScheduledMessage) {
        self.scheduled = scheduled
    }

    package init(from reader: WireReader) throws(WireError) {
        self.scheduled = try reader.object("scheduled")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("scheduled", self.scheduled)
    }
}

/// `scheduled`: requests the user's scheduled messages.
package struct ScheduledRequest: Hashable, WireObject {
    /// The conversation to which the answer is restricted; nil for all conversations.
    package var conversation: ConversationID?
    /// The `page` of the previous answer; nil for the first page.
    package var page: PageToken?

    package init(conversation: ConversationID? = nil, page: PageToken? = nil) {
        self.conversation = conversation
        self.page = page
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.textIfPresent("conv")
        self.page = try reader.textIfPresent("page")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", ifPresent: self.conversation)
        writer.write("page", ifPresent: self.page)
    }
}

/// The answer to `scheduled`, in the order in which the messages are sent.
package struct ScheduledAnswer: Hashable, WireObject {
    package var scheduled: [ScheduledMessage]
    /// The position of the next page; nil on the last page.
    package var page: PageToken?

    package init(scheduled: [ScheduledMessage], page: PageToken? = nil) {
        self.scheduled = scheduled
        self.page = page
    }

    package init(from reader: WireReader) throws(WireError) {
        self.scheduled = try reader.objects("scheduled", maximum: ChatLimits.scheduledMessages)
        self.page = try reader.textIfPresent("page")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("scheduled", all: self.scheduled)
        writer.write("page", ifPresent: self.page)
    }
}

/// `unschedule`: removes a scheduled message. To send a scheduled message now, a client first sends
/// the message and then removes it from the schedule.
package struct UnscheduleRequest: Hashable, WireObject {
    package var id: ClientID
    /// The id of the request that scheduled the message.
    package var target: ClientID

    package init(id: ClientID, target: ClientID) {
        self.id = id
        self.target = target
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.target = try reader.text("of")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("of", self.target)
    }
}
