/// `react`: adds or removes a reaction of the user.
package struct ReactRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// The `seq` of the message.
    package var ref: Int64
    /// The reaction: an emoji, or a short text.
    package var key: String
    /// Whether to remove the reaction.
    package var isRemoval: Bool

    package init(id: ClientID, conversation: ConversationID, ref: Int64, key: String, isRemoval: Bool = false) {
        self.id = id
        self.conversation = conversation
        self.ref = ref
        self.key = key
        self.isRemoval = isRemoval
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.ref = try reader.integer("ref", in: WireReader.seqs)
        self.key = try reader.string("key", minimum: 1, maximum: ChatLimits.reactionLength)
        self.isRemoval = try reader.bool("remove")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("ref", self.ref)
        writer.write("key", self.key)
        writer.write("remove", ifTrue: self.isRemoval)
    }
}

/// `reactions`: requests the users who reacted to a message.
package struct ReactionsRequest: Hashable, WireObject {
    package var conversation: ConversationID
    /// The `seq` of the message.
    package var ref: Int64
    /// The reaction to which the answer is restricted; nil for all reactions.
    package var key: String?
    /// The `page` of the previous answer; nil for the first page.
    package var page: PageToken?

    package init(conversation: ConversationID, ref: Int64, key: String? = nil, page: PageToken? = nil) {
        self.conversation = conversation
        self.ref = ref
        self.key = key
        self.page = page
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.ref = try reader.integer("ref", in: WireReader.seqs)
        self.key = try reader.stringIfPresent("key", minimum: 1, maximum: ChatLimits.reactionLength)
        self.page = try reader.textIfPresent("page")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("ref", self.ref)
        writer.write("key", ifPresent: self.key)
        writer.write("page", ifPresent: self.page)
    }
}

/// A reaction of one user.
public struct Reaction: Hashable, Sendable, WireObject {
    /// The user.
    public var user: UserName
    /// The reaction.
    public var key: String

    package init(user: UserName, key: String) {
        self.user = user
        self.key = key
    }

    package init(from reader: WireReader) throws(WireError) {
        self.user = try reader.text("user")
        self.key = try reader.string("key", minimum: 1, maximum: ChatLimits.reactionLength)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("user", self.user)
        writer.write("key", self.key)
    }
}

/// The answer to `reactions`.
package struct ReactionsAnswer: Hashable, WireObject {
    package var reactions: [Reaction]
    /// The position of the next page; nil on the last page.
    package var page: PageToken?

    package init(reactions: [Reaction], page: PageToken? = nil) {
        self.reactions = reactions
        self.page = page
    }

    package init(from reader: WireReader) throws(WireError) {
        self.reactions = try reader.objects("reactions", maximum: ChatLimits.membersPage)
        self.page = try reader.textIfPresent("page")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("reactions", all: self.reactions)
        writer.write("page", ifPresent: self.page)
    }
}

/// `vote`: sets the user's votes in a poll. They replace earlier votes.
package struct VoteRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// The `seq` of the poll.
    package var ref: Int64
    /// The indices of the options; an empty list withdraws the votes.
    package var options: [Int64]

    package init(id: ClientID, conversation: ConversationID, ref: Int64, options: [Int64]) {
        self.id = id
        self.conversation = conversation
        self.ref = ref
        self.options = options
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.ref = try reader.integer("ref", in: WireReader.seqs)
        self.options = try reader.integers("options", maximum: ChatLimits.pollOptions)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("ref", self.ref)
        writer.write("options", all: self.options)
    }
}

/// `poll.close`: ends a poll.
package struct PollCloseRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// The `seq` of the poll.
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
