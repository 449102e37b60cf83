/// `member.add`: adds the users whose setting `add` includes the sender, and invites other users.
package struct MemberAddRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    package var users: [UserName]

    package init(id: ClientID, conversation: ConversationID, users: [UserName]) {
        self.id = id
        self.conversation = conversation
        self.users = users
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.users = try reader.texts("users", minimum: 1, maximum: ChatLimits.requestUsers)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("users", all: self.users)
    }
}

/// The answer to `member.add`.
package struct MemberAddAnswer: Hashable, WireObject {
    package var conversation: ConversationID
    /// The id of the request.
    package var id: ClientID
    /// The `seq` of the last event that was added to the log; nil if no event was added.
    package var seq: Int64?
    /// The time of the request, in milliseconds since 1970.
    package var at: Int64
    /// The users who became members.
    package var added: [UserName]
    /// The users who were invited.
    package var invited: [UserName]
    /// The names that belong to no account or to a user who could be neither added nor invited.
    package var unknown: [UserName]

    package init(
        conversation: ConversationID, id: ClientID, seq: Int64? = nil, at: Int64, added: [UserName] = [], invited: [UserName] = [],
        unknown: [UserName] = []
    ) {
        self.conversation = conversation
        self.id = id
        self.seq = seq
        self.at = at
        self.added = added
        self.invited = invited
        self.unknown = unknown
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.id = try reader.text("id")
        self.seq = try reader.integerIfPresent("seq", in: WireReader.seqs)
        self.at = try reader.integer("at")
        self.added = try reader.texts("added", maximum: ChatLimits.requestUsers)
        self.invited = try reader.texts("invited", maximum: ChatLimits.requestUsers)
        self.unknown = try reader.texts("unknown", maximum: ChatLimits.requestUsers)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("id", self.id)
        writer.write("seq", ifPresent: self.seq)
        writer.write("at", self.at)
        writer.write("added", ifAny: self.added)
        writer.write("invited", ifAny: self.invited)
        writer.write("unknown", ifAny: self.unknown)
    }
}

/// `member.answer`: accepts or declines an invitation to the user.
package struct MemberAnswerRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// Whether the user accepts the invitation.
    package var isAccepted: Bool

    package init(id: ClientID, conversation: ConversationID, isAccepted: Bool) {
        self.id = id
        self.conversation = conversation
        self.isAccepted = isAccepted
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.isAccepted = try reader.flag("accept")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("accept", self.isAccepted)
    }
}

/// The answer to `member.answer`.
package struct MemberAnswerAnswer: Hashable, WireObject {
    package var conversation: ConversationID
    package var id: ClientID
    /// The `seq` of the join; nil if the invitation was declined.
    package var seq: Int64?
    package var at: Int64
    /// The head of the conversation; nil if the invitation was declined.
    package var head: ChatHead?

    package init(conversation: ConversationID, id: ClientID, seq: Int64? = nil, at: Int64, head: ChatHead? = nil) {
        self.conversation = conversation
        self.id = id
        self.seq = seq
        self.at = at
        self.head = head
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.id = try reader.text("id")
        self.seq = try reader.integerIfPresent("seq", in: WireReader.seqs)
        self.at = try reader.integer("at")
        self.head = try reader.objectIfPresent("head")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("id", self.id)
        writer.write("seq", ifPresent: self.seq)
        writer.write("at", self.at)
        writer.write("head", ifPresent: self.head)
    }
}

/// `member.join`: joins a conversation by a link or through the directory, or requests to join it.
package struct MemberJoinRequest: Hashable, WireObject {
    package var id: ClientID
    /// A conversation that the directory lists.
    package var conversation: ConversationID?
    /// The code of an invite link.
    package var link: LinkCode?

    package init(id: ClientID, conversation: ConversationID? = nil, link: LinkCode? = nil) {
        self.id = id
        self.conversation = conversation
        self.link = link
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.textIfPresent("conv")
        self.link = try reader.textIfPresent("link")
        guard (self.conversation == nil) != (self.link == nil) else {
            throw WireError(.invalid, field: "conv", rule: "or `link` is required, but not both")
        }
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", ifPresent: self.conversation)
        writer.write("link", ifPresent: self.link)
    }
}

/// `member.approve`: approves or rejects a request to join.
package struct MemberApproveRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// The user who sent the request.
    package var user: UserName
    /// Whether the user becomes a member.
    package var isAccepted: Bool

    package init(id: ClientID, conversation: ConversationID, user: UserName, isAccepted: Bool) {
        self.id = id
        self.conversation = conversation
        self.user = user
        self.isAccepted = isAccepted
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.user = try reader.text("user")
        self.isAccepted = try reader.flag("accept")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("user", self.user)
        writer.write("accept", self.isAccepted)
    }
}

/// `member.leave`: leaves a conversation.
package struct MemberLeaveRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID

    package init(id: ClientID, conversation: ConversationID) {
        self.id = id
        self.conversation = conversation
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
    }
}

/// `member.remove` and `member.unban`: removes members, or lifts bans.
package struct MemberUsersRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    package var users: [UserName]

    package init(id: ClientID, conversation: ConversationID, users: [UserName]) {
        self.id = id
        self.conversation = conversation
        self.users = users
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.users = try reader.texts("users", minimum: 1, maximum: ChatLimits.requestUsers)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("users", all: self.users)
    }
}

/// `member.ban` and `member.mute`: bans users, or silences members.
package struct MemberUntilRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    package var users: [UserName]
    /// The time at which the ban or the silencing ends, in milliseconds since 1970; nil for no end.
    /// For `member.mute`, 0 restores the permission to write.
    package var until: Int64?

    package init(id: ClientID, conversation: ConversationID, users: [UserName], until: Int64? = nil) {
        self.id = id
        self.conversation = conversation
        self.users = users
        self.until = until
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.users = try reader.texts("users", minimum: 1, maximum: ChatLimits.requestUsers)
        self.until = try reader.integerIfPresent("until")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("users", all: self.users)
        writer.write("until", ifPresent: self.until)
    }
}

/// `member.role`: changes the role of members. The role `owner` transfers the conversation to the
/// member, and the former owner becomes an admin.
package struct MemberRoleRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// The members; exactly one if the role is `owner`.
    package var users: [UserName]
    /// The new role.
    package var role: MemberRole

    package init(id: ClientID, conversation: ConversationID, users: [UserName], role: MemberRole) {
        self.id = id
        self.conversation = conversation
        self.users = users
        self.role = role
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.users = try reader.texts("users", minimum: 1, maximum: ChatLimits.requestUsers)
        self.role = try reader.knownChoice("role")
        guard self.role != .owner || self.users.count == 1 else {
            throw WireError(.invalid, field: "users", rule: "must name one user for the role `owner`")
        }
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("users", all: self.users)
        writer.write("role", self.role)
    }
}
