/// `mark`: sets the read position, or reports the last message that the device has received.
package struct MarkRequest: Hashable, WireObject {
    package var conversation: ConversationID
    /// The ordinal of the last message that the user has read. A lower or equal ordinal does not
    /// move the position. Any ordinal removes the mark as unread.
    package var read: Int64?
    /// The ordinal of the last message that this device has received. The server keeps it in memory
    /// only.
    package var received: Int64?

    package init(conversation: ConversationID, read: Int64? = nil, received: Int64? = nil) {
        self.conversation = conversation
        self.read = read
        self.received = received
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.read = try reader.integerIfPresent("read")
        self.received = try reader.integerIfPresent("received")
        guard self.read != nil || self.received != nil else {
            throw WireError(.missing, field: "read", rule: "or `received` must be present")
        }
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("read", ifPresent: self.read)
        writer.write("received", ifPresent: self.received)
    }
}

/// The answer to `mark`. The numbers are absent if the request contained only `received`.
package struct MarkAnswer: Hashable, WireObject {
    package var conversation: ConversationID
    /// The current read position.
    package var read: Int64?
    package var unread: Int64?
    package var mentions: Int64?
    /// The ordinal of the newest message that the numbers include.
    package var n: Int64?

    package init(conversation: ConversationID, read: Int64? = nil, unread: Int64? = nil, mentions: Int64? = nil, n: Int64? = nil) {
        self.conversation = conversation
        self.read = read
        self.unread = unread
        self.mentions = mentions
        self.n = n
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.read = try reader.integerIfPresent("read")
        self.unread = try reader.integerIfPresent("unread")
        self.mentions = try reader.integerIfPresent("mentions")
        self.n = try reader.integerIfPresent("n")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("read", ifPresent: self.read)
        writer.write("unread", ifPresent: self.unread)
        writer.write("mentions", ifPresent: self.mentions)
        writer.write("n", ifPresent: self.n)
    }
}
