/// A user as shown to another user.
public struct ChatUser: Hashable, Sendable {
    /// The account name.
    public var name: UserName
    /// The shown name; nil if the user has none. Shown names are not unique.
    public var nick: String?
    /// The picture; nil if the user has none, or if the recipient may not see it.
    public var avatar: BlobID?
    /// The status text; nil if the user has none, or if the recipient may not see it.
    public var status: String?
    /// Whether a device of the user is connected; nil if the recipient may not see it.
    public var online: Bool?
    /// The end of the last connection, in milliseconds since 1970, or the time of the last sign-in
    /// or renewal of a session if the server has restarted since then. Nil if the user is online,
    /// if no session exists, or if the recipient may not see it.
    public var lastSeen: Int64?
    /// Whether the account was deleted.
    public var isDeleted: Bool

    package init(
        name: UserName, nick: String? = nil, avatar: BlobID? = nil, status: String? = nil, online: Bool? = nil, lastSeen: Int64? = nil,
        isDeleted: Bool = false
    ) {
        self.name = name
        self.nick = nick
        self.avatar = avatar
        self.status = status
        self.online = online
        self.lastSeen = lastSeen
        self.isDeleted = isDeleted
    }
}

extension ChatUser: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.name = try reader.text("name")
        self.nick = try reader.stringIfPresent("nick", minimum: 1, maximum: ChatLimits.nickLength)
        self.avatar = try reader.textIfPresent("avatar")
        self.status = try reader.stringIfPresent("status", minimum: 1, maximum: ChatLimits.statusLength)
        self.online = try reader.boolIfPresent("online")
        self.lastSeen = try reader.integerIfPresent("last_seen")
        self.isDeleted = try reader.bool("deleted")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("name", self.name)
        writer.write("nick", ifPresent: self.nick)
        writer.write("avatar", ifPresent: self.avatar)
        writer.write("status", ifPresent: self.status)
        writer.write("online", ifPresent: self.online)
        writer.write("last_seen", ifPresent: self.lastSeen)
        writer.write("deleted", ifTrue: self.isDeleted)
    }
}

/// A member of a conversation.
public struct ChatMember: Hashable, Sendable {
    /// The user.
    public var user: ChatUser
    /// The role.
    public var role: MemberRole
    /// The relation to the conversation.
    public var state: MemberState
    /// The time at which the user entered the state, in milliseconds since 1970.
    public var since: Int64
    /// The ordinal of the last message that the member has read; nil if read positions are not
    /// shown.
    public var read: Int64?
    /// The ordinal of the last message that a device of the member has received; nil if received
    /// positions are not shown, or if the ordinal is not above ``read``. The server keeps the
    /// ordinal in memory only.
    public var received: Int64?
    /// The time until which the member is silenced, in milliseconds since 1970; nil if the member
    /// is not silenced.
    public var mutedUntil: Int64?
    /// The time at which the ban ends, in milliseconds since 1970; nil if the member is not banned,
    /// or if the ban has no end.
    public var bannedUntil: Int64?
    /// The member who added or invited the user; nil if the user joined without an invitation.
    public var by: UserName?

    package init(
        user: ChatUser, role: MemberRole, state: MemberState = .joined, since: Int64, read: Int64? = nil, received: Int64? = nil,
        mutedUntil: Int64? = nil, bannedUntil: Int64? = nil, by: UserName? = nil
    ) {
        self.user = user
        self.role = role
        self.state = state
        self.since = since
        self.read = read
        self.received = received
        self.mutedUntil = mutedUntil
        self.bannedUntil = bannedUntil
        self.by = by
    }
}

extension ChatMember: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.user = try reader.object("user")
        self.role = try reader.choice("role")
        self.state = try reader.choiceIfPresent("state") ?? .joined
        self.since = try reader.integer("since")
        self.read = try reader.integerIfPresent("read")
        self.received = try reader.integerIfPresent("received")
        self.mutedUntil = try reader.integerIfPresent("muted_until")
        self.bannedUntil = try reader.integerIfPresent("banned_until")
        self.by = try reader.textIfPresent("by")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("user", self.user)
        writer.write("role", self.role)
        if self.state != .joined { writer.write("state", self.state) }
        writer.write("since", self.since)
        writer.write("read", ifPresent: self.read)
        writer.write("received", ifPresent: self.received)
        writer.write("muted_until", ifPresent: self.mutedUntil)
        writer.write("banned_until", ifPresent: self.bannedUntil)
        writer.write("by", ifPresent: self.by)
    }
}
