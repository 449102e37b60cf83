package import ApusJSON

/// `edit`: replaces the body of a message with another body of the same kind.
package struct EditRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// The `seq` of the message.
    package var ref: Int64
    /// The new body.
    package var body: JSONObject

    package init(id: ClientID, conversation: ConversationID, ref: Int64, body: JSONObject) {
        self.id = id
        self.conversation = conversation
        self.ref = ref
        self.body = body
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.ref = try reader.integer("ref", in: WireReader.seqs)
        self.body = try reader.free("body")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("ref", self.ref)
        writer.write("body", self.body)
    }
}

/// `preview.remove`: removes the preview of the first link from a text message.
package struct PreviewRemoveRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// The `seq` of the message.
    package var ref: Int64

    package init(id: ClientID, conversation: ConversationID, ref: Int64) {
        self.id = id
        self.conversation = conversation
        self.ref = ref
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.ref = try reader.integer("ref", in: WireReader.seqs)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("ref", self.ref)
    }
}

/// `recall`: removes the body of a message for all members.
package struct RecallRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// The `seq` of the message.
    package var ref: Int64

    package init(id: ClientID, conversation: ConversationID, ref: Int64) {
        self.id = id
        self.conversation = conversation
        self.ref = ref
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.ref = try reader.integer("ref", in: WireReader.seqs)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("ref", self.ref)
    }
}

/// `hide`: hides events of a log from the requesting user ("delete for me").
package struct HideRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// The `seq` of each event.
    package var seqs: [Int64]

    package init(id: ClientID, conversation: ConversationID, seqs: [Int64]) {
        self.id = id
        self.conversation = conversation
        self.seqs = seqs
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.seqs = try reader.integers("seqs", in: WireReader.seqs, minimum: 1, maximum: 100)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("seqs", all: self.seqs)
    }
}

/// `pin`: pins or unpins a message.
package struct PinRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// The `seq` of the message.
    package var ref: Int64
    /// Whether to unpin the message.
    package var isRemoval: Bool

    package init(id: ClientID, conversation: ConversationID, ref: Int64, isRemoval: Bool = false) {
        self.id = id
        self.conversation = conversation
        self.ref = ref
        self.isRemoval = isRemoval
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.ref = try reader.integer("ref", in: WireReader.seqs)
        self.isRemoval = try reader.bool("remove")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("ref", self.ref)
        writer.write("remove", ifTrue: self.isRemoval)
    }
}

/// `typing`: notifies the other members that the user is writing. The notification is valid for 6
/// seconds.
package struct TypingRequest: Hashable, WireObject {
    package var conversation: ConversationID
    /// Whether the user has stopped writing.
    package var isStopped: Bool

    package init(conversation: ConversationID, isStopped: Bool = false) {
        self.conversation = conversation
        self.isStopped = isStopped
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.isStopped = try reader.bool("stopped")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("stopped", ifTrue: self.isStopped)
    }
}

/// `subscribe`: sets the conversations that are on the screen. The connection receives all their
/// events, typing notifications and presences. A new subscription replaces the previous one.
package struct SubscribeRequest: Hashable, WireObject {
    /// The conversations. An empty list ends the subscription.
    package var conversations: [ConversationID]

    package init(conversations: [ConversationID]) {
        self.conversations = conversations
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversations = try reader.texts("convs", maximum: ChatLimits.subscriptions)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("convs", all: self.conversations)
    }
}

/// `readers`: requests the members who have read or received a message.
package struct ReadersRequest: Hashable, WireObject {
    package var conversation: ConversationID
    /// The `seq` of the message.
    package var seq: Int64
    /// The `page` of the previous answer; nil for the first page.
    package var page: PageToken?

    package init(conversation: ConversationID, seq: Int64, page: PageToken? = nil) {
        self.conversation = conversation
        self.seq = seq
        self.page = page
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.seq = try reader.integer("seq", in: WireReader.seqs)
        self.page = try reader.textIfPresent("page")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("seq", self.seq)
        writer.write("page", ifPresent: self.page)
    }
}

/// The answer to `readers`. The order is the same on every request.
package struct ReadersAnswer: Hashable, WireObject {
    /// The members who have read or received the message.
    package var readers: [Reader]
    /// The position of the next page; nil on the last page.
    package var page: PageToken?

    package init(readers: [Reader], page: PageToken? = nil) {
        self.readers = readers
        self.page = page
    }

    package init(from reader: WireReader) throws(WireError) {
        self.readers = try reader.objects("readers", maximum: ChatLimits.membersPage)
        self.page = try reader.textIfPresent("page")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("readers", all: self.readers)
        writer.write("page", ifPresent: self.page)
    }
}

/// A member who has received or read a message.
public struct Reader: Hashable, Sendable, WireObject {
    /// The member.
    public var user: UserName
    /// Whether the member has read the message.
    public var isRead: Bool
    /// Whether a device of the member has received the message.
    public var isReceived: Bool

    package init(user: UserName, isRead: Bool = false, isReceived: Bool = false) {
        self.user = user
        self.isRead = isRead
        self.isReceived = isReceived
    }

    package init(from reader: WireReader) throws(WireError) {
        self.user = try reader.text("user")
        self.isRead = try reader.bool("read")
        self.isReceived = try reader.bool("received")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("user", self.user)
        writer.write("read", ifTrue: self.isRead)
        writer.write("received", ifTrue: self.isReceived)
    }
}
