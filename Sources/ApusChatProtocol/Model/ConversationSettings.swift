/// The members who may perform an action.
public enum MemberScope: String, WireChoice {
    /// The owner, the admins and the members with the role `member`; for
    /// ``ConversationSettings/write``, also guests.
    case members
    /// The owner and the admins.
    case admins
    /// A scope that a later version of the server defines. Treat it as `admins`.
    case unknown
}

/// The rule for users who become members without being added or invited.
public enum JoinRule: String, WireChoice {
    /// Users cannot join without an invitation or an invite link.
    case closed
    /// Users join after an admin has approved their request.
    case approval
    /// Users join immediately.
    case open
    /// A rule that a later version of the server defines. Treat it as `closed`.
    case unknown
}

/// The part of the log that a new member sees.
public enum HistoryRule: String, WireChoice {
    /// The whole log.
    case all
    /// The log from the time at which the member joined.
    case join
    /// A rule that a later version of the server defines. Treat it as `join`.
    case unknown
}

/// The settings of a group or channel. A pair and a self conversation have ``expire`` only.
public struct ConversationSettings: Hashable, Sendable {
    /// The members who may write.
    public var write: MemberScope = .members
    /// The members who may invite and add users.
    public var invite: MemberScope = .members
    /// The members who may change the title, the picture and the description.
    public var manage: MemberScope = .admins
    /// The members who may pin messages.
    public var pin: MemberScope = .admins
    /// The members who may mention all members with `@all`.
    public var mentionAll: MemberScope = .admins
    /// The way in which users join without an invitation or an invite link.
    public var join: JoinRule = .closed
    /// Whether the directory of the server lists the conversation.
    public var listed = false
    /// The part of the log that a new member sees.
    public var history: HistoryRule = .all
    /// The minimum time between two messages of a member, in seconds; 0 for no limit.
    public var slow: Int64 = 0
    /// The time after which messages expire, in seconds; 0 if messages do not expire.
    public var expire: Int64 = 0
    /// Whether members see the read positions of other members.
    public var receipts = true

    /// Creates the settings of a new group.
    public init() {}

    /// The settings of a new channel.
    package static var channel: Self {
        var settings = Self()
        settings.write = .admins
        settings.invite = .admins
        settings.receipts = false
        return settings
    }
}

extension ConversationSettings: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.init()
        self.apply(try ConversationSettingsChange(from: reader))
    }

    package func write(to writer: inout WireWriter) {
        writer.write("write", self.write)
        writer.write("invite", self.invite)
        writer.write("manage", self.manage)
        writer.write("pin", self.pin)
        writer.write("mention_all", self.mentionAll)
        writer.write("join", self.join)
        writer.write("listed", self.listed)
        writer.write("history", self.history)
        writer.write("slow", self.slow)
        writer.write("expire", self.expire)
        writer.write("receipts", self.receipts)
    }

    /// Replaces the settings for which the change contains a value.
    package mutating func apply(_ change: ConversationSettingsChange) {
        self.write = change.write ?? self.write
        self.invite = change.invite ?? self.invite
        self.manage = change.manage ?? self.manage
        self.pin = change.pin ?? self.pin
        self.mentionAll = change.mentionAll ?? self.mentionAll
        self.join = change.join ?? self.join
        self.listed = change.listed ?? self.listed
        self.history = change.history ?? self.history
        self.slow = change.slow ?? self.slow
        self.expire = change.expire ?? self.expire
        self.receipts = change.receipts ?? self.receipts
    }
}

/// New values of some settings. A nil property leaves its setting unchanged.
public struct ConversationSettingsChange: Hashable, Sendable {
    /// The new value of ``ConversationSettings/write``.
    public var write: MemberScope?
    /// The new value of ``ConversationSettings/invite``.
    public var invite: MemberScope?
    /// The new value of ``ConversationSettings/manage``.
    public var manage: MemberScope?
    /// The new value of ``ConversationSettings/pin``.
    public var pin: MemberScope?
    /// The new value of ``ConversationSettings/mentionAll``.
    public var mentionAll: MemberScope?
    /// The new value of ``ConversationSettings/join``.
    public var join: JoinRule?
    /// The new value of ``ConversationSettings/listed``.
    public var listed: Bool?
    /// The new value of ``ConversationSettings/history``.
    public var history: HistoryRule?
    /// The new value of ``ConversationSettings/slow``.
    public var slow: Int64?
    /// The new value of ``ConversationSettings/expire``.
    public var expire: Int64?
    /// The new value of ``ConversationSettings/receipts``.
    public var receipts: Bool?

    /// Creates a change that leaves all settings unchanged.
    public init() {}
}

extension ConversationSettingsChange: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.write = try reader.choiceIfPresent("write")
        self.invite = try reader.choiceIfPresent("invite")
        self.manage = try reader.choiceIfPresent("manage")
        self.pin = try reader.choiceIfPresent("pin")
        self.mentionAll = try reader.choiceIfPresent("mention_all")
        self.join = try reader.choiceIfPresent("join")
        self.listed = try reader.boolIfPresent("listed")
        self.history = try reader.choiceIfPresent("history")
        self.slow = try reader.integerIfPresent("slow", in: 0...ChatLimits.slowSeconds)
        self.expire = try reader.integerIfPresent("expire", in: 0...ChatLimits.expireSeconds)
        self.receipts = try reader.boolIfPresent("receipts")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("write", ifPresent: self.write)
        writer.write("invite", ifPresent: self.invite)
        writer.write("manage", ifPresent: self.manage)
        writer.write("pin", ifPresent: self.pin)
        writer.write("mention_all", ifPresent: self.mentionAll)
        writer.write("join", ifPresent: self.join)
        writer.write("listed", ifPresent: self.listed)
        writer.write("history", ifPresent: self.history)
        writer.write("slow", ifPresent: self.slow)
        writer.write("expire", ifPresent: self.expire)
        writer.write("receipts", ifPresent: self.receipts)
    }

    /// Whether all values are known to this version. A client must not send other values.
    package var isKnown: Bool {
        ![self.write, self.invite, self.manage, self.pin, self.mentionAll].contains(.unknown) && self.join != .unknown
            && self.history != .unknown
    }

    /// Whether the change leaves all settings unchanged.
    package var isEmpty: Bool { self == Self() }
}
