/// The body of `self.pin`, `self.archive`, `self.mute`, `self.unread` and `self.folder`: the new
/// value of one of the user's settings for a conversation. The other settings are nil.
public struct OwnSetBody: Hashable, Sendable {
    /// The conversation.
    public var conversation: ConversationID
    /// The time at which the user pinned the conversation, in milliseconds since 1970; 0 if it is
    /// no longer pinned.
    public var pinnedAt: Int64?
    /// Whether the conversation is archived.
    public var isArchived: Bool?
    /// The time until which notifications are muted, in milliseconds since 1970; 0 if they are not
    /// muted.
    public var mutedUntil: Int64?
    /// The messages that cause notifications.
    public var notify: NotificationRule?
    /// Whether the conversation is marked as unread.
    public var isMarkedUnread: Bool?
    /// The names of the folders that contain the conversation.
    public var folders: [String]?

    package init(
        conversation: ConversationID, pinnedAt: Int64? = nil, isArchived: Bool? = nil, mutedUntil: Int64? = nil,
        notify: NotificationRule? = nil, isMarkedUnread: Bool? = nil, folders: [String]? = nil
    ) {
        self.conversation = conversation
        self.pinnedAt = pinnedAt
        self.isArchived = isArchived
        self.mutedUntil = mutedUntil
        self.notify = notify
        self.isMarkedUnread = isMarkedUnread
        self.folders = folders
    }
}

extension OwnSetBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.pinnedAt = try reader.integerIfPresent("pinned_at")
        self.isArchived = try reader.boolIfPresent("archived")
        self.mutedUntil = try reader.integerIfPresent("muted_until")
        self.notify = try reader.choiceIfPresent("notify")
        self.isMarkedUnread = try reader.boolIfPresent("marked_unread")
        self.folders =
            try reader.has("folders") ? reader.strings("folders", length: ChatLimits.folderLength, maximum: ChatLimits.folders) : nil
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("pinned_at", ifPresent: self.pinnedAt)
        writer.write("archived", ifPresent: self.isArchived)
        writer.write("muted_until", ifPresent: self.mutedUntil)
        writer.write("notify", ifPresent: self.notify)
        writer.write("marked_unread", ifPresent: self.isMarkedUnread)
        writer.write("folders", ifPresent: self.folders)
    }
}

/// The body of `self.draft`. A newer draft of the same conversation removes the content of this
/// event.
public struct DraftBody: Hashable, Sendable {
    /// The conversation.
    public var conversation: ConversationID
    /// The draft; nil if it was removed.
    public var draft: DraftText?

    package init(conversation: ConversationID, draft: DraftText? = nil) {
        self.conversation = conversation
        self.draft = draft
    }
}

extension DraftBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.draft = try reader.objectIfPresent("draft")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("draft", ifPresent: self.draft)
    }
}

/// The content of a draft.
public struct DraftText: Hashable, Sendable {
    /// The text.
    public var text: String
    /// The `seq` of the message that the draft replies to; nil if absent.
    public var ref: Int64?

    package init(text: String, ref: Int64? = nil) {
        self.text = text
        self.ref = ref
    }
}

extension DraftText: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.text = try reader.string("text", minimum: 1, maximum: ChatLimits.draftLength)
        self.ref = try reader.integerIfPresent("ref", in: WireReader.seqs)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("text", self.text)
        writer.write("ref", ifPresent: self.ref)
    }
}

/// The body of `self.hide`.
public struct HideBody: Hashable, Sendable {
    /// The conversation.
    public var conversation: ConversationID
    /// The `seq` of each hidden event.
    public var seqs: [Int64]

    package init(conversation: ConversationID, seqs: [Int64]) {
        self.conversation = conversation
        self.seqs = seqs
    }
}

extension HideBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.seqs = try reader.integers("seqs", in: WireReader.seqs, maximum: 100)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("seqs", all: self.seqs)
    }
}

/// The body of `self.set`: the user's profile or settings changed. The client must request them
/// again.
public struct OwnUserBody: Hashable, Sendable {
    /// The user whose profile or settings changed.
    public var users: [UserName]

    package init(users: [UserName]) {
        self.users = users
    }
}

extension OwnUserBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.users = try reader.texts("users", maximum: 1)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("users", all: self.users)
    }
}

/// The body of the kinds that begin with `contact.`.
public struct ContactBody: Hashable, Sendable {
    /// The other user.
    public var user: UserName
    /// Whether the other user caused the change.
    public var isIncoming: Bool
    /// The alias of the contact; empty if it was removed.
    public var alias: String?
    /// The text of a contact request; nil for other changes, or if the request has none.
    public var text: String?

    package init(user: UserName, isIncoming: Bool = false, alias: String? = nil, text: String? = nil) {
        self.user = user
        self.isIncoming = isIncoming
        self.alias = alias
        self.text = text
    }
}

extension ContactBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.user = try reader.text("user")
        self.isIncoming = try reader.bool("incoming")
        self.alias = try reader.stringIfPresent("alias", maximum: ChatLimits.nickLength)
        self.text = try reader.stringIfPresent("text", minimum: 1, maximum: ChatLimits.contactTextLength)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("user", self.user)
        writer.write("incoming", ifTrue: self.isIncoming)
        writer.write("alias", ifPresent: self.alias)
        writer.write("text", ifPresent: self.text)
    }
}

/// The body of `device.add` and `device.remove`.
public struct DeviceBody: Hashable, Sendable {
    /// The device.
    public var device: DeviceID
    /// The name of the device.
    public var name: String
    /// The platform of the device.
    public var platform: String

    package init(device: DeviceID, name: String, platform: String) {
        self.device = device
        self.name = name
        self.platform = platform
    }
}

extension DeviceBody: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.device = try reader.text("device")
        self.name = try reader.string("name", minimum: 1, maximum: ChatLimits.nickLength)
        self.platform = try reader.string("platform", minimum: 1, maximum: 20)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("device", self.device)
        writer.write("name", self.name)
        writer.write("platform", self.platform)
    }
}
