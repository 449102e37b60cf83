package import ApusChatProtocol
package import ApusChatStorage

/// Creates a group or channel.
package struct CreateCommand: Sendable {
    package var kind: ConversationKind
    package var profile: ConversationProfile
    package var settings: ConversationSettingsChange
    /// The first members besides the creator; nil for a name without an account.
    package var members: [UserKey?]
    /// The key that the new conversation gets, at random.
    package var new: ConversationKey

    package init(
        kind: ConversationKind = .group, profile: ConversationProfile, settings: ConversationSettingsChange = ConversationSettingsChange(),
        members: [UserKey?] = [], new: ConversationKey
    ) {
        self.kind = kind
        self.profile = profile
        self.settings = settings
        self.members = members
        self.new = new
    }
}

/// New values for a conversation; nil leaves a value as it is.
package struct ConversationUpdate: Sendable {
    package var title: String?
    package var about: String?
    /// The outer nil leaves the picture, the inner one removes it.
    package var avatar: BlobID??
    package var settings = ConversationSettingsChange()
    package init() {}

    package var changesProfile: Bool { self.title != nil || self.about != nil || self.avatar != nil }

    /// Whether the update names nothing but the time after which messages disappear.
    package var changesExpiryOnly: Bool {
        var rest = self.settings
        rest.expire = nil
        return self.settings.expire != nil && rest.isEmpty && !self.changesProfile
    }
}

/// The terms of a new invite link.
package struct LinkTerms: Sendable {
    /// At least 128 random bits, drawn by the session.
    package var code: String
    package var expiresAt: Int64
    package var uses: Int64?
    /// The role of those that join: `member`, `reader` or `guest`.
    package var role: MemberRole
    package var needsApproval: Bool

    package init(code: String, expiresAt: Int64 = 0, uses: Int64? = nil, role: MemberRole = .member, needsApproval: Bool = false) {
        self.code = code
        self.expiresAt = expiresAt
        self.uses = uses
        self.role = role
        self.needsApproval = needsApproval
    }
}

/// A change of the own settings for one conversation.
package enum OwnChange: Sendable, Equatable {
    case pin(Bool)
    case archive(Bool)
    /// Until a time, or 0.
    case mute(until: Int64)
    /// Whether notifications tell messages that mention the user only.
    case notifyMentionsOnly(Bool)
    case markUnread(Bool)
    /// Names of `AccountRow.folders`.
    case folders([String])
    /// The body of the draft as JSON text. Empty removes the draft.
    case draft(String)
}

/// A change of the own account; nil leaves a value as it is.
package struct ProfileUpdate: Sendable {
    package var nickname: String?
    package var about: String?
    package var status: String?
    package var avatar: BlobID??
    package var privacy: AccountPrivacy?
    package var folders: [Folder]?
    /// The outer nil leaves the quiet hours, the inner one removes them.
    package var quietHours: QuietHours??
    package init() {}
}

/// A change of what one user is to another one.
package enum ContactChange: Sendable, Equatable {
    /// Asks, or agrees if the peer asked.
    case request(text: String)
    /// Agrees to a request of the peer, or declines it.
    case answer(accepts: Bool)
    /// Ends the contact, withdraws a request, or declines one.
    case remove
    case alias(String)
    case block(Bool)
}

/// A device of a user that was added or removed. Its row is written by the accounts service.
package struct DeviceChange: Sendable, Equatable {
    package var device: DeviceKey
    package var name: String
    package var platform: String
    package var isAdded: Bool

    package init(device: DeviceKey, name: String, platform: String, isAdded: Bool) {
        self.device = device
        self.name = name
        self.platform = platform
        self.isAdded = isAdded
    }
}
