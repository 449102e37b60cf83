/// The actions that a permission decides, in the order of the documentation.
package enum ChatAction: Int, CaseIterable, Sendable {
    case read, mark, send, mentionAll, editOwn, recallOwn, recallOthers, hide, react, vote, closePoll, pin, call
    case seeMembers, setProfile, configure, configureExpiry, delete
    case invite, approve, remove, ban, silence, setRole, transfer, manageLinks
    case join, accept, leave, personalize, report

    /// The name in the documentation.
    package var name: String {
        switch self {
        case .read: "read the log"
        case .mark: "move the own read position"
        case .send: "send"
        case .mentionAll: "mention `@all`"
        case .editOwn: "edit an own message"
        case .recallOwn: "recall an own message"
        case .recallOthers: "recall a message of another user"
        case .hide: "delete a message for oneself"
        case .react: "react"
        case .vote: "vote"
        case .closePoll: "close an own poll"
        case .pin: "pin and unpin a message"
        case .call: "call"
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
        case .setRole: "give a role below the own one to a member of a lower role"
        case .transfer: "make another member the owner"
        case .manageLinks: "create, list and revoke invite links"
        case .join: "join without an invitation"
        case .accept: "accept or decline an invitation"
        case .leave: "leave, and remove the conversation from the list"
        case .personalize: "pin, mute, archive, file, mark as unread, draft"
        case .report: "report"
        }
    }
}

/// What a user is to a conversation: one column of the table of permissions.
package enum Standing: Int, CaseIterable, Sendable {
    /// The user of a self conversation.
    case own
    /// Either user of a pair.
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

    /// Whether the user is told why an action is refused. Others learn that there is no such
    /// conversation.
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
    /// If the setting of this name includes the role.
    case setting(Setting)
    /// By the rule for joining, or with a link.
    case joinRule
    /// Up to the last visible event.
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
