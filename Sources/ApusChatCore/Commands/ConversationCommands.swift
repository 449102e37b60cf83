package import ApusChatProtocol
package import ApusChatStorage

/// Creates a group or channel.
package struct CreateCommand: Sendable {
    package var kind: ConversationKind
    package var profile: ConversationProfile
    package var settings: ConversationSettingsChange
    /// The first members in addition to the creator; nil for a name without an account.
    package var members: [UserKey?]
    /// The random key for the new conversation.
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

/// New values for a conversation. A nil property leaves a value unchanged.
package struct ConversationUpdate: Sendable {
    package var title: String?
    package var about: String?
    /// The picture. The outer nil leaves it unchanged, the inner nil removes it.
    package var avatar: BlobID??
    package var settings = ConversationSettingsChange()
    package init() {}

    package var changesProfile: Bool { self.title != nil || self.about != nil || self.avatar != nil }

    /// Whether the update changes only the setting `expire`.
    package var changesExpiryOnly: Bool {
        var rest = self.settings
        rest.expire = nil
        return self.settings.expire != nil && rest.isEmpty && !self.changesProfile
    }
}

/// The terms of a new invite link.
package struct LinkTerms: Sendable {
    /// The code of the link. The session creates it from at least 128 random bits.
    package var code: String
    package var expiresAt: Int64
    package var uses: Int64?
    /// The role of users who join by the link: `member`, `reader` or `guest`.
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

/// A change of a user's settings for one conversation.
package enum OwnChange: Sendable, Equatable {
    case pin(Bool)
    case archive(Bool)
    /// Mutes notifications until a time; 0 ends the mute.
    case mute(until: Int64)
    /// Limits notifications to messages that mention the user, or ends the limit.
    case notifyMentionsOnly(Bool)
    case markUnread(Bool)
    /// Sets the folders that contain the conversation, by their names.
    case folders([String])
    /// Sets the draft, the JSON text of its body; an empty text removes it.
    case draft(String)
}

/// A change of a user's profile and settings. A nil property leaves a value unchanged.
package struct ProfileUpdate: Sendable {
    package var nickname: String?
    package var about: String?
    package var status: String?
    package var avatar: BlobID??
    /// The settings to change. They are applied to the settings at the time of the decision, so
    /// that two simultaneous changes are both kept. An equal start and end remove the quiet hours.
    package var settings: UserSettings?
    package init() {}
}

/// A change of the relation of one user to another.
package enum ContactChange: Sendable, Equatable {
    /// Sends a contact request to the peer, or accepts the request of the peer.
    case request(text: String)
    /// Accepts or declines a request of the peer.
    case answer(accepts: Bool)
    /// Removes the contact, or withdraws or declines a request.
    case remove
    case alias(String)
    case block(Bool)
}

/// A device that was added to or removed from a user. The accounts service writes the row of the
/// device.
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
