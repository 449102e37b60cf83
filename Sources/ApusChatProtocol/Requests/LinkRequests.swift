/// `link.create`: creates an invite link.
package struct LinkCreateRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// The role of users who join by the link: `member` by default, `reader` or `guest`.
    package var role: MemberRole?
    /// The time at which the link expires, in milliseconds since 1970; nil if the link does not
    /// expire.
    package var expiresAt: Int64?
    /// The maximum number of joins and of requests to join by the link; nil for no limit.
    package var uses: Int64?
    /// Whether users who join by the link need the approval of an administrator.
    package var needsApproval: Bool

    package init(
        id: ClientID, conversation: ConversationID, role: MemberRole? = nil, expiresAt: Int64? = nil, uses: Int64? = nil,
        needsApproval: Bool = false
    ) {
        self.id = id
        self.conversation = conversation
        self.role = role
        self.expiresAt = expiresAt
        self.uses = uses
        self.needsApproval = needsApproval
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.role = try reader.knownChoiceIfPresent("role")
        self.expiresAt = try reader.integerIfPresent("expires_at")
        self.uses = try reader.integerIfPresent("uses", in: 1...100_000)
        self.needsApproval = try reader.bool("approval")
        guard self.role != .owner, self.role != .admin else {
            throw WireError(.invalid, field: "role", rule: "must be `member`, `reader` or `guest`")
        }
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("role", ifPresent: self.role)
        writer.write("expires_at", ifPresent: self.expiresAt)
        writer.write("uses", ifPresent: self.uses)
        writer.write("approval", ifTrue: self.needsApproval)
    }
}

/// An invite link.
public struct InviteLink: Hashable, Sendable, WireObject {
    /// The secret part of the link.
    public var code: LinkCode
    /// The role of users who join by the link.
    public var role: MemberRole
    /// The user who created the link.
    public var by: UserName
    /// The time at which the link was created, in milliseconds since 1970.
    public var at: Int64
    /// The time at which the link expires, in milliseconds since 1970; nil if the link does not
    /// expire.
    public var expiresAt: Int64?
    /// The maximum number of joins and of requests to join by the link; nil for no limit.
    public var uses: Int64?
    /// The number of joins and of requests to join by the link.
    public var used: Int64
    /// Whether users who join by the link need the approval of an administrator.
    public var needsApproval: Bool

    package init(
        code: LinkCode, role: MemberRole, by: UserName, at: Int64, expiresAt: Int64? = nil, uses: Int64? = nil, used: Int64,
        needsApproval: Bool = false
    ) {
        self.code = code
        self.role = role
        self.by = by
        self.at = at
        self.expiresAt = expiresAt
        self.uses = uses
        self.used = used
        self.needsApproval = needsApproval
    }

    package init(from reader: WireReader) throws(WireError) {
        self.code = try reader.text("code")
        self.role = try reader.choice("role")
        self.by = try reader.text("by")
        self.at = try reader.integer("at")
        self.expiresAt = try reader.integerIfPresent("expires_at")
        self.uses = try reader.integerIfPresent("uses")
        self.used = try reader.integer("used")
        self.needsApproval = try reader.bool("approval")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("code", self.code)
        writer.write("role", self.role)
        writer.write("by", self.by)
        writer.write("at", self.at)
        writer.write("expires_at", ifPresent: self.expiresAt)
        writer.write("uses", ifPresent: self.uses)
        writer.write("used", self.used)
        writer.write("approval", ifTrue: self.needsApproval)
    }
}

/// The answer to `link.create`.
package struct LinkAnswer: Hashable, WireObject {
    package var link: InviteLink

    package init(link: InviteLink) {
        self.link = link
    }

    package init(from reader: WireReader) throws(WireError) {
        self.link = try reader.object("link")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("link", self.link)
    }
}

/// `link.list`: requests the links of a conversation.
package struct LinkListRequest: Hashable, WireObject {
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

/// The answer to `link.list`. The newest link is the first.
package struct LinkListAnswer: Hashable, WireObject {
    package var links: [InviteLink]

    package init(links: [InviteLink]) {
        self.links = links
    }

    package init(from reader: WireReader) throws(WireError) {
        self.links = try reader.objects("links", maximum: ChatLimits.links)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("links", all: self.links)
    }
}

/// `link.revoke`: revokes an invite link.
package struct LinkRevokeRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    package var code: LinkCode

    package init(id: ClientID, conversation: ConversationID, code: LinkCode) {
        self.id = id
        self.conversation = conversation
        self.code = code
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.code = try reader.text("code")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("code", self.code)
    }
}

/// `link.info`: requests the properties of the conversation to which a link leads.
package struct LinkInfoRequest: Hashable, WireObject {
    package var code: LinkCode

    package init(code: LinkCode) {
        self.code = code
    }

    package init(from reader: WireReader) throws(WireError) {
        self.code = try reader.text("code")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("code", self.code)
    }
}

/// The answer to `link.info`: the conversation to which a link leads.
public struct LinkInfoAnswer: Hashable, Sendable, WireObject {
    /// The title.
    public var title: String
    /// The kind.
    public var kind: ConversationKind
    /// The picture; nil without one.
    public var avatar: BlobID?
    /// The number of members.
    public var members: Int64
    /// Whether users join immediately or after approval.
    public var join: JoinRule
    /// The user who created the link.
    public var by: ChatUser

    package init(title: String, kind: ConversationKind, avatar: BlobID? = nil, members: Int64, join: JoinRule, by: ChatUser) {
        self.title = title
        self.kind = kind
        self.avatar = avatar
        self.members = members
        self.join = join
        self.by = by
    }

    package init(from reader: WireReader) throws(WireError) {
        self.title = try reader.string("title", minimum: 1, maximum: ChatLimits.titleLength)
        self.kind = try reader.choice("kind")
        self.avatar = try reader.textIfPresent("avatar")
        self.members = try reader.integer("members")
        self.join = try reader.choice("join")
        self.by = try reader.object("by")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("title", self.title)
        writer.write("kind", self.kind)
        writer.write("avatar", ifPresent: self.avatar)
        writer.write("members", self.members)
        writer.write("join", self.join)
        writer.write("by", self.by)
    }
}
