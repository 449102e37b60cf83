/// The actions that the table of permissions contains, in the order of the documentation.
package enum ChatAction: Int, CaseIterable, Sendable {
    case read, mark, send, mentionAll, editOwn, removePreview, recallOwn, recallOthers, hide, react, vote, closePoll, pin, call, joinCall,
        leaveCall
    case seeMembers, setProfile, configure, configureExpiry, delete
    case invite, approve, remove, ban, silence, setRole, transfer, manageLinks
    case join, accept, leave, personalize, report

    /// The name of the action in the documentation and in refusals: a verb phrase.
    package var name: String {
        switch self {
        case .read: "read the log"
        case .mark: "move the read position"
        case .send: "send"
        case .mentionAll: "mention `@all`"
        case .editOwn: "edit one's own message"
        case .removePreview: "remove the preview of one's own message"
        case .recallOwn: "recall one's own message"
        case .recallOthers: "recall a message of another user"
        case .hide: "delete a message for oneself"
        case .react: "react"
        case .vote: "vote"
        case .closePoll: "close one's own poll"
        case .pin: "pin and unpin a message"
        case .call: "start a call"
        case .joinCall: "accept and decline a call"
        case .leaveCall: "leave a call, and end a call of a pair"
        case .seeMembers: "see the members"
        case .setProfile: "set title, picture and description"
        case .configure: "change the settings"
        case .configureExpiry: "set the time after which messages disappear"
        case .delete: "delete the conversation for all"
        case .invite: "add and invite users"
        case .approve: "approve and reject requests to join"
        case .remove: "remove a member of a lower role"
        case .ban: "ban a user of a lower role, and lift a ban"
        case .silence: "silence a member of a lower role"
        case .setRole: "assign a role below one's own to a member of a lower role"
        case .transfer: "make another member the owner"
        case .manageLinks: "create, list and revoke invite links"
        case .join: "join without an invitation"
        case .accept: "accept or decline an invitation"
        case .leave: "leave, and remove the conversation from the list"
        case .personalize: "change one's own settings (pin, mute, archive, folders, unread mark) and draft"
        case .report: "report the conversation or its messages"
        }
    }
}

/// The relation of a user to a conversation: one column of the table of permissions.
package enum Standing: Int, CaseIterable, Sendable {
    /// The owner of a self conversation.
    case own
    /// One of the two users of a pair.
    case pair
    case owner, admin, member, reader, guest
    case invited, requested, former, banned, stranger

    package var name: String {
        switch self {
        case .own: "self"
        case .pair: "pair"
        case .owner: "owner"
        case .admin: "admin"
        case .member: "member"
        case .reader: "reader"
        case .guest: "guest"
        case .invited: "invited"
        case .requested: "requested"
        case .former: "former"
        case .banned: "banned"
        case .stranger: "stranger"
        }
    }

    /// Whether a refusal may reveal that the conversation exists. If not, the error is `not_found`.
    package var mayKnow: Bool {
        switch self {
        case .own, .pair, .owner, .admin, .member, .reader, .guest, .invited, .former: true
        case .requested, .banned, .stranger: false
        }
    }
}

/// One cell of the table of permissions.
package enum Grant: Hashable, Sendable {
    case yes
    case no
    /// Permitted if the setting with this name includes the role.
    case setting(Setting)
    /// Permitted by the setting `join`, or with an invite link.
    case joinRule
    /// Permitted up to the last event that the user could see.
    case past

    package enum Setting: String, Sendable {
        case write, invite, manage, pin, mentionAll
    }

    /// The text of the cell in the documentation.
    package var text: String {
        switch self {
        case .yes: "yes"
        case .no: "–"
        case .setting(.mentionAll): "`mention_all`"
        case .setting(let setting): "`\(setting.rawValue)`"
        case .joinRule: "`join`"
        case .past: "past"
        }
    }
}
