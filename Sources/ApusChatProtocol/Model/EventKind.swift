/// The kind of an event. The set is open: later versions of the server and applications can send
/// kinds that are not listed here. For a message of an unknown kind, a client shows a request to
/// update.
public struct EventKind: Hashable, Sendable, CustomStringConvertible {
    /// The kinds as an enumeration, which is faster to compare than text.
    package enum Code: Hashable, Sendable {
        // Messages.
        case text, image, audio, video, file, location, card, call, poll, bundle, encrypted
        // Changes of messages.
        case edit, preview, recall, react, vote, pollClose, pin, callUpdate
        // Changes of a conversation.
        case conversationCreate, conversationSet
        case memberJoin, memberInvite, memberLeave, memberRemove, memberBan, memberUnban, memberRole, memberMute
        // Events of a user's self conversation.
        case selfPin, selfArchive, selfMute, selfUnread, selfDraft, selfFolder, selfHide, selfSet
        case contactRequest, contactAccept, contactRemove, contactAlias, contactBlock, contactUnblock
        case deviceAdd, deviceRemove
        /// An event that replaces one that the recipient may not see.
        case hidden
        /// A kind that an application defines: `x.` and a name.
        case custom(String)
        /// A kind that a later version defines.
        case other(String)
    }

    package let code: Code

    package init(_ code: Code) { self.code = code }

    /// Creates a kind from its name, which may be unknown.
    ///
    /// - Parameter rawValue: The name.
    public init(rawValue: String) { self.code = Self.codes[rawValue] ?? Self.openCode(rawValue) }

    /// The name on the wire.
    public var rawValue: String {
        switch self.code {
        case .custom(let name), .other(let name): name
        default: Self.names[self.code] ?? ""
        }
    }

    /// The name on the wire.
    public var description: String { self.rawValue }

    /// Whether an event of this kind is a message, which has an ordinal.
    public var isMessage: Bool {
        switch self.code {
        case .text, .image, .audio, .video, .file, .location, .card, .call, .poll, .bundle, .encrypted, .custom: true
        default: false
        }
    }

    /// Whether an event of this kind repeats content of the message to which it refers. When the
    /// content of the message is removed, the content of the event is removed too.
    package var repeatsContent: Bool { self == .edit || self == .preview }

    /// Whether this version defines the kind, or an application does.
    public var isKnown: Bool {
        if case .other = self.code { false } else { true }
    }

    /// The names of all known kinds, in the order of the documentation.
    package static let table: [(code: Code, name: String)] = [
        (.text, "text"), (.image, "image"), (.audio, "audio"), (.video, "video"), (.file, "file"), (.location, "location"),
        (.card, "card"), (.call, "call"), (.poll, "poll"), (.bundle, "bundle"), (.encrypted, "encrypted"),
        (.edit, "edit"), (.preview, "preview"), (.recall, "recall"), (.react, "react"), (.vote, "vote"), (.pollClose, "poll.close"),
        (.pin, "pin"),
        (.callUpdate, "call.update"),
        (.conversationCreate, "conversation.create"), (.conversationSet, "conversation.set"),
        (.memberJoin, "member.join"), (.memberInvite, "member.invite"), (.memberLeave, "member.leave"),
        (.memberRemove, "member.remove"), (.memberBan, "member.ban"), (.memberUnban, "member.unban"),
        (.memberRole, "member.role"), (.memberMute, "member.mute"),
        (.selfPin, "self.pin"), (.selfArchive, "self.archive"), (.selfMute, "self.mute"), (.selfUnread, "self.unread"),
        (.selfDraft, "self.draft"), (.selfFolder, "self.folder"), (.selfHide, "self.hide"), (.selfSet, "self.set"),
        (.contactRequest, "contact.request"), (.contactAccept, "contact.accept"), (.contactRemove, "contact.remove"),
        (.contactAlias, "contact.alias"), (.contactBlock, "contact.block"), (.contactUnblock, "contact.unblock"),
        (.deviceAdd, "device.add"), (.deviceRemove, "device.remove"), (.hidden, "hidden"),
    ]

    private static let names = Dictionary(uniqueKeysWithValues: Self.table.map { ($0.code, $0.name) })
    private static let codes = Dictionary(uniqueKeysWithValues: Self.table.map { ($0.name, $0.code) })

    private static func openCode(_ name: String) -> Code { self.isCustomName(name) ? .custom(name) : .other(name) }

    /// Returns whether the name is that of an application-defined kind: `x.` and 1 to 62 of the
    /// characters `a` to `z`, `0` to `9`, `.`, `_` and `-`.
    private static func isCustomName(_ name: String) -> Bool {
        (3...64).contains(name.utf8.count) && name.hasPrefix("x.")
            && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2E || $0 == 0x5F || $0 == 0x2D }
    }
}

extension EventKind {
    /// A text with entities.
    public static let text = Self(.text)
    /// A picture.
    public static let image = Self(.image)
    /// A recording.
    public static let audio = Self(.audio)
    /// A video.
    public static let video = Self(.video)
    /// A file of any type.
    public static let file = Self(.file)
    /// A place.
    public static let location = Self(.location)
    /// The name of a user, to be shown as a business card.
    public static let card = Self(.card)
    /// A call. Its body changes until the call has ended.
    public static let call = Self(.call)
    /// A question with options to vote for.
    public static let poll = Self(.poll)
    /// Several forwarded messages in one.
    public static let bundle = Self(.bundle)
    /// An end-to-end encrypted message. Reserved.
    public static let encrypted = Self(.encrypted)
    /// Replaces the body of a message.
    public static let edit = Self(.edit)
    /// Adds, replaces or removes the preview of the first link of a text message.
    public static let preview = Self(.preview)
    /// Removes the body of a message.
    public static let recall = Self(.recall)
    /// Adds or removes a reaction.
    public static let react = Self(.react)
    /// Sets the sender's votes in a poll.
    public static let vote = Self(.vote)
    /// Ends a poll.
    public static let pollClose = Self(.pollClose)
    /// Pins or unpins a message.
    public static let pin = Self(.pin)
    /// Changes the state of a call.
    public static let callUpdate = Self(.callUpdate)
    /// The first event of a log.
    public static let conversationCreate = Self(.conversationCreate)
    /// Changes the title, avatar, description or settings.
    public static let conversationSet = Self(.conversationSet)
    /// Users became members.
    public static let memberJoin = Self(.memberJoin)
    /// Users were invited.
    public static let memberInvite = Self(.memberInvite)
    /// The sender left.
    public static let memberLeave = Self(.memberLeave)
    /// Members were removed.
    public static let memberRemove = Self(.memberRemove)
    /// Users were banned.
    public static let memberBan = Self(.memberBan)
    /// A ban was lifted.
    public static let memberUnban = Self(.memberUnban)
    /// Members have a new role.
    public static let memberRole = Self(.memberRole)
    /// Members may not write until a time, or may write again.
    public static let memberMute = Self(.memberMute)
    /// Replaces an event that the recipient may not see.
    public static let hidden = Self(.hidden)
}

extension EventKind: WireText {
    package static let wireRule = "must be the name of a kind, 1 to 64 characters"
    package init?(wireText: String) {
        guard (1...64).contains(wireText.utf8.count) else { return nil }
        self.init(rawValue: wireText)
    }
    package var wireText: String { self.rawValue }
}
