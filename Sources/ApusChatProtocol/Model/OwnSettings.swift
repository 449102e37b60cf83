/// A user's settings for one conversation. Other users do not see them.
public struct OwnSettings: Hashable, Sendable {
    /// The time at which the user pinned the conversation, in milliseconds since 1970; nil if it is
    /// not pinned.
    public var pinnedAt: Int64?
    /// Whether the conversation is archived.
    public var isArchived: Bool
    /// The time until which notifications are muted, in milliseconds since 1970; nil if they are
    /// not muted.
    public var mutedUntil: Int64?
    /// The messages that cause notifications while the conversation is not muted.
    public var notify: NotificationRule
    /// Whether the user marked the conversation as unread.
    public var isMarkedUnread: Bool
    /// The unfinished message; nil if the user has no draft.
    public var draft: Draft?
    /// The folders that contain the conversation.
    public var folders: [String]

    package init(
        pinnedAt: Int64? = nil, isArchived: Bool = false, mutedUntil: Int64? = nil, notify: NotificationRule = .all,
        isMarkedUnread: Bool = false, draft: Draft? = nil, folders: [String] = []
    ) {
        self.pinnedAt = pinnedAt
        self.isArchived = isArchived
        self.mutedUntil = mutedUntil
        self.notify = notify
        self.isMarkedUnread = isMarkedUnread
        self.draft = draft
        self.folders = folders
    }
}

/// The messages of a conversation that cause notifications.
public enum NotificationRule: String, WireChoice {
    /// All messages.
    case all
    /// Messages that mention the user.
    case mentions
    /// A rule that a later version of the server defines. Treat it as `all`.
    case unknown
}

/// An unfinished message, which is synchronized to all devices of its user.
public struct Draft: Hashable, Sendable {
    /// The text.
    public var text: String
    /// The `seq` of the message that the draft replies to; nil if it is not a reply.
    public var ref: Int64?
    /// The time of the last change, in milliseconds since 1970.
    public var at: Int64

    package init(text: String, ref: Int64? = nil, at: Int64) {
        self.text = text
        self.ref = ref
        self.at = at
    }
}

extension OwnSettings: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.pinnedAt = try reader.integerIfPresent("pinned_at")
        self.isArchived = try reader.bool("archived")
        self.mutedUntil = try reader.integerIfPresent("muted_until")
        self.notify = try reader.choiceIfPresent("notify") ?? .all
        self.isMarkedUnread = try reader.bool("marked_unread")
        self.draft = try reader.objectIfPresent("draft")
        self.folders = try reader.strings("folders", length: ChatLimits.folderLength, maximum: ChatLimits.folders)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("pinned_at", ifPresent: self.pinnedAt)
        writer.write("archived", ifTrue: self.isArchived)
        writer.write("muted_until", ifPresent: self.mutedUntil)
        if self.notify != .all { writer.write("notify", self.notify) }
        writer.write("marked_unread", ifTrue: self.isMarkedUnread)
        writer.write("draft", ifPresent: self.draft)
        writer.write("folders", ifAny: self.folders)
    }
}

extension Draft: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.text = try reader.string("text", maximum: ChatLimits.draftLength)
        self.ref = try reader.integerIfPresent("ref", in: WireReader.seqs)
        self.at = try reader.integer("at")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("text", self.text)
        writer.write("ref", ifPresent: self.ref)
        writer.write("at", self.at)
    }
}
