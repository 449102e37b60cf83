/// The body of `conversation.create`.
public struct ConversationCreateBody: Hashable, Sendable {
    /// The kind.
    public var kind: ConversationKind
    /// The title of a group or channel.
    public var title: String?

    package init(kind: ConversationKind, title: String? = nil) {
        self.kind = kind
        self.title = title
    }
}

extension ConversationCreateBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.kind = try reader.choice("kind")
        self.title = try reader.stringIfPresent("title", minimum: 1, maximum: ChatLimits.titleLength)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("kind", self.kind)
        writer.write("title", ifPresent: self.title)
    }
}

/// The body of `conversation.set`: the changed values. Unchanged values are nil.
public struct ConversationSetBody: Hashable, Sendable {
    /// The title.
    public var title: String?
    /// The picture; empty if it was removed.
    public var avatar: BlobChange?
    /// The description; empty if it was removed.
    public var about: String?
    /// The settings that changed.
    public var settings: ConversationSettingsChange?

    package init(title: String? = nil, avatar: BlobChange? = nil, about: String? = nil, settings: ConversationSettingsChange? = nil) {
        self.title = title
        self.avatar = avatar
        self.about = about
        self.settings = settings
    }
}

extension ConversationSetBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.title = try reader.stringIfPresent("title", minimum: 1, maximum: ChatLimits.titleLength)
        self.avatar = try reader.textIfPresent("avatar")
        self.about = try reader.stringIfPresent("about", maximum: ChatLimits.aboutLength)
        self.settings = try reader.objectIfPresent("settings")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("title", ifPresent: self.title)
        writer.write("avatar", ifPresent: self.avatar)
        writer.write("about", ifPresent: self.about)
        writer.write("settings", ifPresent: self.settings)
    }
}

/// The body of the kinds that begin with `member.`.
public struct MemberBody: Hashable, Sendable {
    /// The users; empty for `member.leave`, which concerns the sender.
    public var users: [UserName]
    /// The new role, for `member.role` and `member.join`.
    public var role: MemberRole?
    /// The end of a ban or of silencing, in milliseconds since 1970. For `member.ban`, nil is a ban
    /// without an end. For `member.mute`, nil permits the members to write again.
    public var until: Int64?
    /// The way in which the users joined, for `member.join`.
    public var via: JoinWay?

    package init(users: [UserName] = [], role: MemberRole? = nil, until: Int64? = nil, via: JoinWay? = nil) {
        self.users = users
        self.role = role
        self.until = until
        self.via = via
    }
}

extension MemberBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.users = try reader.texts("users", maximum: ChatLimits.requestUsers)
        self.role = try reader.choiceIfPresent("role")
        self.until = try reader.integerIfPresent("until")
        self.via = try reader.choiceIfPresent("via")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("users", ifAny: self.users)
        writer.write("role", ifPresent: self.role)
        writer.write("until", ifPresent: self.until)
        writer.write("via", ifPresent: self.via)
    }
}

/// The way in which a user became a member.
public enum JoinWay: String, WireChoice {
    /// A member added the user without an invitation.
    case add
    /// The user accepted an invitation.
    case invite
    /// The user followed a link.
    case link
    /// The user joined from the directory.
    case directory
    /// An admin approved the request of the user.
    case approval
    /// A way that a later version defines.
    case unknown
}
