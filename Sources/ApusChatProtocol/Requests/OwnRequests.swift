/// `own.set`: changes the user's settings for a conversation. Absent fields remain unchanged.
package struct OwnSetRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// Whether the conversation is pinned.
    package var isPinned: Bool?
    /// Whether the conversation is archived.
    package var isArchived: Bool?
    /// The time until which notifications are muted, in milliseconds since 1970; 0 ends the mute.
    package var mutedUntil: Int64?
    /// The messages that cause notifications.
    package var notify: NotificationRule?
    /// Whether the conversation is marked as unread.
    package var isMarkedUnread: Bool?
    /// The names of the folders that contain the conversation.
    package var folders: [String]?

    package init(
        id: ClientID, conversation: ConversationID, isPinned: Bool? = nil, isArchived: Bool? = nil, mutedUntil: Int64? = nil,
        notify: NotificationRule? = nil, isMarkedUnread: Bool? = nil, folders: [String]? = nil
    ) {
        self.id = id
        self.conversation = conversation
        self.isPinned = isPinned
        self.isArchived = isArchived
        self.mutedUntil = mutedUntil
        self.notify = notify
        self.isMarkedUnread = isMarkedUnread
        self.folders = folders
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.isPinned = try reader.boolIfPresent("pinned")
        self.isArchived = try reader.boolIfPresent("archived")
        self.mutedUntil = try reader.integerIfPresent("muted_until")
        self.notify = try reader.knownChoiceIfPresent("notify")
        self.isMarkedUnread = try reader.boolIfPresent("marked_unread")
        self.folders =
            try reader.has("folders") ? reader.strings("folders", length: ChatLimits.folderLength, maximum: ChatLimits.folders) : nil
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("pinned", ifPresent: self.isPinned)
        writer.write("archived", ifPresent: self.isArchived)
        writer.write("muted_until", ifPresent: self.mutedUntil)
        writer.write("notify", ifPresent: self.notify)
        writer.write("marked_unread", ifPresent: self.isMarkedUnread)
        writer.write("folders", ifPresent: self.folders)
    }
}

/// `draft`: stores the unfinished message of a conversation for the other devices of the user.
package struct DraftRequest: Hashable, WireObject {
    package var id: ClientID
    package var conversation: ConversationID
    /// The text; an empty string removes the draft.
    package var text: String
    /// The `seq` of the message that the draft replies to; nil if it is not a reply.
    package var ref: Int64?

    package init(id: ClientID, conversation: ConversationID, text: String, ref: Int64? = nil) {
        self.id = id
        self.conversation = conversation
        self.text = text
        self.ref = ref
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.conversation = try reader.text("conv")
        self.text = try reader.string("text", maximum: ChatLimits.draftLength)
        self.ref = try reader.integerIfPresent("ref", in: WireReader.seqs)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("conv", self.conversation)
        writer.write("text", self.text)
        writer.write("ref", ifPresent: self.ref)
    }
}

/// A folder of conversations.
public struct Folder: Hashable, Sendable, WireObject {
    /// The name.
    public var name: String
    /// The rule that fills the folder: `unread`, `people`, `groups` or `channels`; nil for a folder
    /// whose conversations the user selects.
    public var filter: String?

    /// Creates a folder.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - filter: The rule that fills the folder. Default: none; the user selects the
    ///     conversations.
    public init(name: String, filter: String? = nil) {
        self.name = name
        self.filter = filter
    }

    package init(from reader: WireReader) throws(WireError) {
        self.name = try reader.string("name", minimum: 1, maximum: ChatLimits.folderLength)
        self.filter = try reader.stringIfPresent("filter", minimum: 1, maximum: 20)
    }

    package func write(to writer: inout WireWriter) {
        writer.write("name", self.name)
        writer.write("filter", ifPresent: self.filter)
    }
}

/// The settings of a user. In a change, a nil property leaves the setting unchanged.
public struct UserSettings: Hashable, Sendable, WireObject {
    /// The users who may open a conversation with this user.
    public var messages: Audience?
    /// The users who see this user's presence.
    public var lastSeen: Audience?
    /// The users who see this user's picture.
    public var avatar: Audience?
    /// The users who can add this user to a group without an invitation.
    public var add: Audience?
    /// The users who find this user by a search.
    public var find: Audience?
    /// Whether other users see this user's read positions, and this user sees theirs.
    public var receipts: Bool?
    /// Whether other users see that this user is writing.
    public var typing: Bool?
    /// The start of the quiet hours, in minutes after midnight UTC.
    public var quietFrom: Int64?
    /// The end of the quiet hours, in minutes after midnight UTC. A change in which the start and
    /// the end are equal removes the quiet hours.
    public var quietUntil: Int64?
    /// The folders, in the order in which they are shown.
    public var folders: [Folder]?

    /// Creates settings. A setting that is nil is not changed.
    ///
    /// - Parameters:
    ///   - messages: The users who may open a conversation with this user.
    ///   - lastSeen: The users who see this user's presence.
    ///   - avatar: The users who see this user's picture.
    ///   - add: The users who can add this user to a group without an invitation.
    ///   - find: The users who find this user by a search.
    ///   - receipts: Whether other users see this user's read positions, and this user sees theirs.
    ///   - typing: Whether other users see that this user is writing.
    ///   - quietFrom: The start of the quiet hours, in minutes after midnight UTC.
    ///   - quietUntil: The end of the quiet hours, in minutes after midnight UTC. A change in which
    ///     the start and the end are equal removes the quiet hours.
    ///   - folders: The folders, in the order in which they are shown.
    public init(
        messages: Audience? = nil, lastSeen: Audience? = nil, avatar: Audience? = nil, add: Audience? = nil, find: Audience? = nil,
        receipts: Bool? = nil, typing: Bool? = nil, quietFrom: Int64? = nil, quietUntil: Int64? = nil, folders: [Folder]? = nil
    ) {
        self.messages = messages
        self.lastSeen = lastSeen
        self.avatar = avatar
        self.add = add
        self.find = find
        self.receipts = receipts
        self.typing = typing
        self.quietFrom = quietFrom
        self.quietUntil = quietUntil
        self.folders = folders
    }

    package init(from reader: WireReader) throws(WireError) {
        self.messages = try reader.choiceIfPresent("messages")
        self.lastSeen = try reader.choiceIfPresent("last_seen")
        self.avatar = try reader.choiceIfPresent("avatar")
        self.add = try reader.choiceIfPresent("add")
        self.find = try reader.choiceIfPresent("find")
        self.receipts = try reader.boolIfPresent("receipts")
        self.typing = try reader.boolIfPresent("typing")
        self.quietFrom = try reader.integerIfPresent("quiet_from", in: 0...1_439)
        self.quietUntil = try reader.integerIfPresent("quiet_until", in: 0...1_439)
        self.folders = try reader.has("folders") ? reader.objects("folders", maximum: ChatLimits.folders) : nil
    }

    package func write(to writer: inout WireWriter) {
        writer.write("messages", ifPresent: self.messages)
        writer.write("last_seen", ifPresent: self.lastSeen)
        writer.write("avatar", ifPresent: self.avatar)
        writer.write("add", ifPresent: self.add)
        writer.write("find", ifPresent: self.find)
        writer.write("receipts", ifPresent: self.receipts)
        writer.write("typing", ifPresent: self.typing)
        writer.write("quiet_from", ifPresent: self.quietFrom)
        writer.write("quiet_until", ifPresent: self.quietUntil)
        if let folders = self.folders { writer.write("folders", all: folders) }
    }
}

/// The users to whom a setting applies.
public enum Audience: String, WireChoice {
    /// All users.
    case all
    /// Contacts only.
    case contacts
    /// No user.
    case none
    /// A value that a later version of the server defines. Treat it as `none`.
    case unknown
}

/// The answer to `settings`.
package struct SettingsAnswer: Hashable, WireObject {
    /// All settings.
    package var settings: UserSettings

    package init(settings: UserSettings) {
        self.settings = settings
    }

    package init(from reader: WireReader) throws(WireError) {
        self.settings = try reader.object("settings")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("settings", self.settings)
    }
}

/// `settings.set`: changes settings of the user. Absent settings remain unchanged.
package struct SettingsSetRequest: Hashable, WireObject {
    package var id: ClientID
    /// The new settings. `folders` replaces the whole list.
    package var settings: UserSettings

    package init(id: ClientID, settings: UserSettings) {
        self.id = id
        self.settings = settings
    }

    package init(from reader: WireReader) throws(WireError) {
        self.id = try reader.text("id")
        self.settings = try reader.object("settings")
        let audiences = [
            self.settings.messages, self.settings.lastSeen, self.settings.avatar, self.settings.add, self.settings.find,
        ]
        guard !audiences.contains(.unknown) else {
            throw WireError(.unsupported, field: "settings", rule: "has a value that this version does not support")
        }
    }

    package func write(to writer: inout WireWriter) {
        writer.write("id", self.id)
        writer.write("settings", self.settings)
    }
}
