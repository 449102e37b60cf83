/// `forward`: sends messages of one conversation to another. The server copies them, so that
/// recipients can trust the names of the original senders.
package struct ForwardRequest: Hashable, WireObject {
    package var id: ClientID
    /// The conversation that receives the messages.
    package var conversation: ConversationID
    /// The conversation that contains the messages.
    package var source: ConversationID
    /// The `seq` of each message, ascending.
    package var seqs: [Int64]
    /// Whether the messages are sent as one message of kind `bundle`.
    package var isBundle: Bool
    /// The title of the bundle; nil for no title.
    package var title: String?
    /// Whether the names of the original senders are omitted.
    package var isAnonymous: Bool
    /// Whether to send without notifying the recipients.
    package var isSilent: Bool

    package init(
        id: ClientID, conversation: ConversationID, source: ConversationID, seqs: [Int64], isBundle: Bool = false, title: String? = nil,
        isAnonymous: Bool = false, isSilent: Bool = false
    ) {
        self.id = id
        self.conversation = conversation
        self.source = source
        self.seqs = seqs
        self.isBundle = isBundle
        self.title = title
        self.isAnonymous = isAnonymous
        self.isSilent = isSilent
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.source = try reader.text("from")
        self.seqs = try reader.integers("seqs", in: WireReader.seqs, minimum: 1, maximum: ChatLimits.bundleMessages)
        self.isBundle = try reader.bool("bundle")
        self.title = try reader.stringIfPresent("title", minimum: 1, maximum: ChatLimits.titleLength)
        self.isAnonymous = try reader.bool("anonymous")
        self.isSilent = try reader.bool("silent")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("from", self.source)
        writer.write("seqs", all: self.seqs)
        writer.write("bundle", ifTrue: self.isBundle)
        writer.write("title", ifPresent: self.title)
        writer.write("anonymous", ifTrue: self.isAnonymous)
        writer.write("silent", ifTrue: self.isSilent)
    }
}

/// The answer to `forward`.
package struct ForwardAnswer: Hashable, WireObject {
    /// The conversation that received the messages.
    package var conversation: ConversationID
    /// The id of the request.
    package var id: ClientID
    /// The `seq` of each new message.
    package var seqs: [Int64]
    /// The time at which the messages were stored, in milliseconds since 1970.
    package var at: Int64

    package init(conversation: ConversationID, id: ClientID, seqs: [Int64], at: Int64) {
        self.conversation = conversation
        self.id = id
        self.seqs = seqs
        self.at = at
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.id = try reader.text("id")
        self.seqs = try reader.integers("seqs", in: WireReader.seqs, maximum: ChatLimits.bundleMessages)
        self.at = try reader.integer("at")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("id", self.id)
        writer.write("seqs", all: self.seqs)
        writer.write("at", self.at)
    }
}
