/// The summary of a conversation for one user: a row of the list of conversations, and the end of
/// its log.
///
/// A head contains no list of members, and does not change with the read positions of other
/// members.
public struct ChatHead: Hashable, Sendable {
    /// The conversation.
    public var conversation: ConversationID
    /// The kind.
    public var kind: ConversationKind
    /// The recipient's relation to the conversation.
    public var state: MemberState
    /// The recipient's role.
    public var role: MemberRole
    /// The title of a group or channel; nil for other kinds.
    public var title: String?
    /// The picture of a group or channel; nil if absent.
    public var avatar: BlobID?
    /// The other user of a pair, or the user who invited the recipient; nil if there is neither.
    public var peer: ChatUser?
    /// The number of members of a group or channel; 0 for other kinds.
    public var members: Int64
    /// A number that increases with each change of the members of a group or channel; 0 for other
    /// kinds and for former members.
    public var membersVersion: Int64
    /// The settings of a group or channel. For another kind, nil unless its messages expire.
    public var settings: ConversationSettings?
    /// The `seq` of the newest event that the recipient can see; 0 for an empty log.
    public var seq: Int64
    /// The ordinal of the newest message.
    public var n: Int64
    /// The first `seq` that the recipient can see.
    public var minSeq: Int64
    /// The ordinal of the last message that the recipient has read.
    public var read: Int64
    /// The number of messages that the recipient has not read.
    public var unread: Int64
    /// The number of unread messages that mention the recipient.
    public var mentions: Int64
    /// The time by which lists order the conversation, in milliseconds since 1970: the time of the
    /// event in ``last``. For a user who is not a member, the time at which the user entered the
    /// `state`.
    public var at: Int64
    /// The preview of the newest event that moves the conversation up in lists; nil if there is no
    /// such event. These events are messages, changes of the profile or the settings, and the
    /// invitation, the join, the leave and the removal of members.
    public var last: EventPreview?
    /// The `seq` of each pinned message, newest first.
    public var pins: [Int64]
    /// The `seq` of the running call; nil if no call runs.
    public var call: Int64?
    /// The time until which an admin does not let the recipient write, in milliseconds since 1970;
    /// nil if the recipient is not silenced. The time may have passed.
    public var silencedUntil: Int64?
    /// The recipient's settings for the conversation.
    public var own: OwnSettings

    package init(
        conversation: ConversationID, kind: ConversationKind, state: MemberState = .joined, role: MemberRole = .member,
        title: String? = nil, avatar: BlobID? = nil, peer: ChatUser? = nil, members: Int64 = 0,
        membersVersion: Int64 = 0, settings: ConversationSettings? = nil, seq: Int64, n: Int64, minSeq: Int64 = 1, read: Int64 = 0,
        unread: Int64 = 0, mentions: Int64 = 0, at: Int64, last: EventPreview? = nil, pins: [Int64] = [], call: Int64? = nil,
        silencedUntil: Int64? = nil, own: OwnSettings = OwnSettings()
    ) {
        self.conversation = conversation
        self.kind = kind
        self.state = state
        self.role = role
        self.title = title
        self.avatar = avatar
        self.peer = peer
        self.members = members
        self.membersVersion = membersVersion
        self.settings = settings
        self.seq = seq
        self.n = n
        self.minSeq = minSeq
        self.read = read
        self.unread = unread
        self.mentions = mentions
        self.at = at
        self.last = last
        self.pins = pins
        self.call = call
        self.silencedUntil = silencedUntil
        self.own = own
    }
}

extension ChatHead: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.kind = try reader.choice("kind")
        self.state = try reader.choiceIfPresent("state") ?? .joined
        self.role = try reader.choiceIfPresent("role") ?? .member
        self.title = try reader.stringIfPresent("title", minimum: 1, maximum: ChatLimits.titleLength)
        self.avatar = try reader.textIfPresent("avatar")
        self.peer = try reader.objectIfPresent("peer")
        self.members = try reader.integerIfPresent("members") ?? 0
        self.membersVersion = try reader.integerIfPresent("members_version") ?? 0
        self.settings = try reader.objectIfPresent("settings")
        self.seq = try reader.integer("seq")
        self.n = try reader.integer("n")
        self.minSeq = try reader.integerIfPresent("min_seq", in: WireReader.seqs) ?? 1
        self.read = try reader.integerIfPresent("read") ?? 0
        self.unread = try reader.integerIfPresent("unread") ?? 0
        self.mentions = try reader.integerIfPresent("mentions") ?? 0
        self.at = try reader.integer("at")
        self.last = try reader.objectIfPresent("last")
        self.pins = try reader.integers("pins", in: WireReader.seqs, maximum: ChatLimits.pinnedMessages)
        self.call = try reader.integerIfPresent("call", in: WireReader.seqs)
        self.silencedUntil = try reader.integerIfPresent("silenced_until")
        self.own = try reader.objectIfPresent("own") ?? OwnSettings()
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("kind", self.kind)
        if self.state != .joined { writer.write("state", self.state) }
        if self.role != .member { writer.write("role", self.role) }
        writer.write("title", ifPresent: self.title)
        writer.write("avatar", ifPresent: self.avatar)
        writer.write("peer", ifPresent: self.peer)
        if self.members != 0 { writer.write("members", self.members) }
        if self.membersVersion != 0 { writer.write("members_version", self.membersVersion) }
        writer.write("settings", ifPresent: self.settings)
        writer.write("seq", self.seq)
        writer.write("n", self.n)
        if self.minSeq != 1 { writer.write("min_seq", self.minSeq) }
        if self.read != 0 { writer.write("read", self.read) }
        if self.unread != 0 { writer.write("unread", self.unread) }
        if self.mentions != 0 { writer.write("mentions", self.mentions) }
        writer.write("at", self.at)
        writer.write("last", ifPresent: self.last)
        writer.write("pins", ifAny: self.pins)
        writer.write("call", ifPresent: self.call)
        writer.write("silenced_until", ifPresent: self.silencedUntil)
        if self.own != OwnSettings() { writer.write("own", self.own) }
    }
}
