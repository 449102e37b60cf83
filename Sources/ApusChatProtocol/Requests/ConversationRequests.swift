/// `conversation.open`: returns the conversation with another user. Creates the conversation if it
/// does not exist.
package struct OpenRequest: Hashable, WireObject {
    package var id: ClientID
    /// The other user.
    package var user: UserName

    package init(id: ClientID, user: UserName) {
        self.id = id
        self.user = user
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.user = try reader.text("user")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("user", self.user)
    }
}

/// `conversation.create`: creates a group or a channel, which the user owns. Adds the users whose
/// setting `add` includes the owner, and invites other users.
package struct CreateRequest: Hashable, WireObject {
    package var id: ClientID
    /// The kind: `group` or `channel`.
    package var kind: ConversationKind
    package var title: String
    /// The description; nil without one.
    package var about: String?
    /// The picture; nil without one.
    package var avatar: BlobID?
    /// The users to add or invite.
    package var users: [UserName]
    /// The settings that differ from the defaults of the kind.
    package var settings: ConversationSettingsChange?

    package init(
        id: ClientID, kind: ConversationKind, title: String, about: String? = nil, avatar: BlobID? = nil, users: [UserName] = [],
        settings: ConversationSettingsChange? = nil
    ) {
        self.id = id
        self.kind = kind
        self.title = title
        self.about = about
        self.avatar = avatar
        self.users = users
        self.settings = settings
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.kind = try reader.knownChoice("kind")
        self.title = try reader.nickname("title", maximum: ChatLimits.titleLength)
        self.about = try reader.stringIfPresent("about", minimum: 1, maximum: ChatLimits.aboutLength)
        self.avatar = try reader.textIfPresent("avatar")
        self.users = try reader.texts("users", maximum: ChatLimits.requestUsers)
        self.settings = try reader.objectIfPresent("settings")
        guard self.kind == .group || self.kind == .channel else {
            throw WireError(.invalid, field: "kind", rule: "must be `group` or `channel`")
        }
        if let settings = self.settings, !settings.isKnown {
            throw WireError(.unsupported, field: "settings", rule: "has a value that this version does not support")
        }
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("kind", self.kind)
        writer.write("title", self.title)
        writer.write("about", ifPresent: self.about)
        writer.write("avatar", ifPresent: self.avatar)
        writer.write("users", ifAny: self.users)
        writer.write("settings", ifPresent: self.settings)
    }
}

/// The answer to the requests that open, create or join a conversation.
package struct HeadAnswer: Hashable, WireObject {
    package var head: ChatHead
    /// The users who were invited rather than added.
    package var invited: [UserName]
    /// The names that belong to no account or to a user who could be neither added nor invited.
    package var unknown: [UserName]

    package init(head: ChatHead, invited: [UserName] = [], unknown: [UserName] = []) {
        self.head = head
        self.invited = invited
        self.unknown = unknown
    }

    package init(from reader: WireReader) throws(WireError) {
        self.head = try reader.object("head")
        self.invited = try reader.texts("invited", maximum: ChatLimits.requestUsers)
        self.unknown = try reader.texts("unknown", maximum: ChatLimits.requestUsers)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("head", self.head)
        writer.write("invited", ifAny: self.invited)
        writer.write("unknown", ifAny: self.unknown)
    }
}

/// `conversation.info`: requests the properties of a conversation that its head does not contain.
package struct InfoRequest: Hashable, WireObject {
    package var conversation: ConversationID

    package init(conversation: ConversationID) {
        self.conversation = conversation
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
    }
}

/// The answer to `conversation.info`.
package struct InfoAnswer: Hashable, WireObject {
    /// The current head.
    package var head: ChatHead
    /// The description; nil without one.
    package var about: String?
    /// The time of creation, in milliseconds since 1970.
    package var createdAt: Int64
    /// The user who created the conversation; nil if the requesting user cannot see the
    /// first event.
    package var by: UserName?

    package init(head: ChatHead, about: String? = nil, createdAt: Int64, by: UserName? = nil) {
        self.head = head
        self.about = about
        self.createdAt = createdAt
        self.by = by
    }

    package init(from reader: WireReader) throws(WireError) {
        self.head = try reader.object("head")
        self.about = try reader.stringIfPresent("about", minimum: 1, maximum: ChatLimits.aboutLength)
        self.createdAt = try reader.integer("created_at")
        self.by = try reader.textIfPresent("by")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("head", self.head)
        writer.write("about", ifPresent: self.about)
        writer.write("created_at", self.createdAt)
        writer.write("by", ifPresent: self.by)
    }
}

/// `conversation.set`: changes the title, the description, the picture or the settings. Absent
/// fields remain unchanged.
package struct ConversationSetRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// The new title; nil leaves it unchanged.
    package var title: String?
    /// The new description. An empty string removes it.
    package var about: String?
    /// The new picture, or its removal.
    package var avatar: BlobChange?
    /// The settings to change.
    package var settings: ConversationSettingsChange?

    package init(
        id: ClientID, conversation: ConversationID, title: String? = nil, about: String? = nil, avatar: BlobChange? = nil,
        settings: ConversationSettingsChange? = nil
    ) {
        self.id = id
        self.conversation = conversation
        self.title = title
        self.about = about
        self.avatar = avatar
        self.settings = settings
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.title = try reader.nicknameIfPresent("title", maximum: ChatLimits.titleLength)
        self.about = try reader.stringIfPresent("about", maximum: ChatLimits.aboutLength)
        self.avatar = try reader.textIfPresent("avatar")
        self.settings = try reader.objectIfPresent("settings")
        guard self.title != nil || self.about != nil || self.avatar != nil || self.settings != nil else {
            throw WireError(.missing, field: "title", rule: "or another field to change must be present")
        }
        if let settings = self.settings, !settings.isKnown {
            throw WireError(.unsupported, field: "settings", rule: "has a value that this version does not support")
        }
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("title", ifPresent: self.title)
        writer.write("about", ifPresent: self.about)
        writer.write("avatar", ifPresent: self.avatar)
        writer.write("settings", ifPresent: self.settings)
    }
}

/// `conversation.delete`: removes a conversation from the user's list, or deletes it for all
/// members.
package struct DeleteRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// Whether to delete the conversation for all members, which only its owner can do.
    package var isForAll: Bool

    package init(id: ClientID, conversation: ConversationID, isForAll: Bool = false) {
        self.id = id
        self.conversation = conversation
        self.isForAll = isForAll
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.isForAll = try reader.bool("for_all")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("for_all", ifTrue: self.isForAll)
    }
}

/// `directory`: requests the groups and channels that the server lists.
package struct DirectoryRequest: Hashable, WireObject {
    /// Text that the title or the description must contain; nil for all conversations.
    package var query: String?
    /// The `page` of the previous answer; nil for the first page.
    package var page: PageToken?

    package init(query: String? = nil, page: PageToken? = nil) {
        self.query = query
        self.page = page
    }

    package init(from reader: WireReader) throws(WireError) {
        self.query = try reader.stringIfPresent("query", minimum: 1, maximum: ChatLimits.queryLength)
        self.page = try reader.textIfPresent("page")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("query", ifPresent: self.query)
        writer.write("page", ifPresent: self.page)
    }
}

/// A conversation that the directory lists.
public struct DirectoryEntry: Hashable, Sendable, WireObject {
    /// The conversation.
    public var conversation: ConversationID
    /// The kind: `group` or `channel`.
    public var kind: ConversationKind
    /// The title.
    public var title: String
    /// The description; nil without one.
    public var about: String?
    /// The picture; nil without one.
    public var avatar: BlobID?
    /// The number of members.
    public var members: Int64
    /// The way in which users join.
    public var join: JoinRule

    package init(
        conversation: ConversationID, kind: ConversationKind, title: String, about: String? = nil, avatar: BlobID? = nil, members: Int64,
        join: JoinRule
    ) {
        self.conversation = conversation
        self.kind = kind
        self.title = title
        self.about = about
        self.avatar = avatar
        self.members = members
        self.join = join
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.kind = try reader.choice("kind")
        self.title = try reader.string("title", minimum: 1, maximum: ChatLimits.titleLength)
        self.about = try reader.stringIfPresent("about", minimum: 1, maximum: ChatLimits.aboutLength)
        self.avatar = try reader.textIfPresent("avatar")
        self.members = try reader.integer("members")
        self.join = try reader.choice("join")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("kind", self.kind)
        writer.write("title", self.title)
        writer.write("about", ifPresent: self.about)
        writer.write("avatar", ifPresent: self.avatar)
        writer.write("members", self.members)
        writer.write("join", self.join)
    }
}

/// The answer to `directory`, newest conversation first.
package struct DirectoryAnswer: Hashable, WireObject {
    package var conversations: [DirectoryEntry]
    /// The position of the next page; nil on the last page.
    package var page: PageToken?

    package init(conversations: [DirectoryEntry], page: PageToken? = nil) {
        self.conversations = conversations
        self.page = page
    }

    package init(from reader: WireReader) throws(WireError) {
        self.conversations = try reader.objects("conversations", maximum: ChatLimits.usersPage)
        self.page = try reader.textIfPresent("page")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conversations", all: self.conversations)
        writer.write("page", ifPresent: self.page)
    }
}
