package import ApusChatProtocol
package import ApusChatStorage

/// The table of permissions: each action in each standing. `docs/chat-permissions.md` is generated
/// from it.
package enum Permissions {
    /// Checks whether a user may perform an action. Throws the error with which the action is
    /// refused.
    ///
    /// - Parameters:
    ///   - member: The user's row in the conversation; nil if the user has none.
    ///   - conversation: The conversation; nil if it does not exist, which is refused as if the
    ///     user had no row.
    ///   - time: The current time, in milliseconds since 1970.
    package static func check(
        _ action: ChatAction, of member: MemberRow?, in conversation: ConversationRow?, at time: Int64
    ) throws(ChatError) {
        guard let conversation, !conversation.counters.isDeleted else { throw .noConversation }
        let standing = Self.standing(of: member, kind: conversation.kind, at: time)
        guard Self.permits(Self.grant(action, standing), standing, conversation.settings) else {
            throw standing.mayKnow ? Self.refusal(action, standing) : .noConversation
        }
        if let member, member.silencedUntil > time, Self.silencedActions.contains(action) {
            throw ChatError(
                .forbidden, message: "An admin has silenced you in this conversation.",
                retryAfter: member.silencedUntil - time)
        }
    }

    /// Returns the standing of a user: the column of the table.
    package static func standing(of member: MemberRow?, kind: ConversationKind, at time: Int64 = 0) -> Standing {
        guard let member else { return .stranger }
        switch member.state {
        case .joined: break
        case .invited: return .invited
        case .requested: return .requested
        case .left, .removed: return .former
        case .banned: return member.isBanned(at: time) ? .banned : .former
        case .unknown: return .stranger
        }
        switch kind {
        case .own: return .own
        case .pair: return .pair
        case .group, .channel, .unknown: break
        }
        switch member.role {
        case .owner: return .owner
        case .admin: return .admin
        case .member: return .member
        case .reader: return .reader
        case .guest, .unknown: return .guest
        }
    }

    /// Returns the cell of an action and a standing.
    package static func grant(_ action: ChatAction, _ standing: Standing) -> Grant {
        Self.table[action.rawValue * Standing.allCases.count + standing.rawValue]
    }

    /// The actions that a silenced member cannot perform. The member can still recall messages,
    /// remove their previews and leave a call, because these actions add no content.
    package static let silencedActions: Set<ChatAction> = [
        .send, .mentionAll, .editOwn, .react, .vote, .pin, .call, .joinCall, .setProfile, .invite,
    ]

    private static func permits(_ grant: Grant, _ standing: Standing, _ settings: ConversationSettings) -> Bool {
        switch grant {
        case .yes, .past: true
        case .no: false
        case .joinRule: true  // the decision on the join applies the rule
        case .setting(let setting):
            switch setting {
            case .write: settings.write == .members
            case .invite: settings.invite == .members
            case .manage: settings.manage == .members
            case .pin: settings.pin == .members
            case .mentionAll: settings.mentionAll == .members
            }
        }
    }

    private static func refusal(_ action: ChatAction, _ standing: Standing) -> ChatError {
        ChatError(.forbidden, message: "Your standing in the conversation (\(standing.name)) does not permit the action: \(action.name).")
    }
}

extension Permissions {
    /// The cells of the table, in the order of `ChatAction` and, for each action, in the order of
    /// `Standing`.
    private static let table: [Grant] = ChatAction.allCases.flatMap { action -> [Grant] in
        let row = Self.row(action)
        // The order is that of `Standing`.
        return [
            row.own, row.pair, row.staff.0, row.staff.1, row.member, row.reader, row.guest, row.invited, row.requested, row.former, .no,
            row.stranger,
        ]
    }

    private struct Row {
        var own = Grant.no
        var pair = Grant.no
        /// The grants of the owner and of the admins.
        var staff = (Grant.yes, Grant.yes)
        var member = Grant.no
        var reader = Grant.no
        var guest = Grant.no
        var invited = Grant.no
        var requested = Grant.no
        var former = Grant.no
        var stranger = Grant.no

        /// Permitted to all members, and to the users of pairs and self conversations.
        static let all = Row(own: .yes, pair: .yes, member: .yes, reader: .yes, guest: .yes)
        /// Permitted to the owner and the admins.
        static let staff = Row()
    }

    private static func row(_ action: ChatAction) -> Row {
        var row = Row.all
        switch action {
        case .read: row.former = .past
        case .mark, .hide: break
        case .send: (row.member, row.reader, row.guest) = (.setting(.write), .no, .setting(.write))
        case .editOwn, .removePreview, .recallOwn, .closePoll: row.reader = .no
        case .react, .vote: break
        case .call: row = Row(pair: .yes, member: .setting(.write))
        case .joinCall: (row.own, row.reader, row.guest) = (.no, .no, .no)
        case .leaveCall: row.own = .no
        case .mentionAll: row = Row(own: .no, pair: .no, member: .setting(.mentionAll))
        case .recallOthers: row = .staff
        case .pin: row = Row(own: .yes, pair: .yes, member: .setting(.pin))
        case .seeMembers: row.guest = .yes
        case .setProfile: row = Row(member: .setting(.manage))
        case .configure, .approve, .remove, .ban, .silence, .setRole, .manageLinks: row = .staff
        case .configureExpiry: row = Row(own: .yes, pair: .yes)
        case .invite: row = Row(member: .setting(.invite))
        case .transfer, .delete: row = Row(staff: (.yes, .no))
        case .join: row = Row(staff: (.no, .no), invited: .joinRule, former: .joinRule, stranger: .joinRule)
        case .accept: row = Row(staff: (.no, .no), invited: .yes)
        case .leave: (row.own, row.invited, row.requested, row.former) = (.no, .yes, .yes, .yes)
        case .personalize: (row.invited, row.former) = (.no, .yes)
        case .report: (row.own, row.invited, row.former) = (.no, .yes, .yes)
        }
        return row
    }
}

extension Permissions {
    /// The text of `docs/chat-permissions.md`.
    package static var page: String {
        let standings = Standing.allCases
        var page = """
            # Permissions of the chat

            Generated from `Sources/ApusChatCore/Permissions`. `APUS_UPDATE_DOCS=1` in the environment of
            `PermissionsTests` writes it again.

            A column is what a user is to a conversation. `pair` is either user of a pair, `self` the user of a self
            conversation; the roles are those of groups and channels. `former` users left or were removed.

            | action | \(standings.map(\.name).joined(separator: " | ")) |
            |---|\(String(repeating: "---|", count: standings.count))

            """
        for action in ChatAction.allCases {
            page += "| \(action.name) | \(standings.map { Self.grant(action, $0).text }.joined(separator: " | ")) |\n"
        }
        page += Self.notes
        return page
    }

    private static var notes: String {
        let silenced = ChatAction.allCases.filter(Self.silencedActions.contains).map(\.name).joined(separator: "; ")
        return """

            - `write`, `invite`, `manage`, `pin`, `mention_all`: the setting of the conversation has the value `members`. Its value
              `admins` permits owners and admins only.
            - `join`: by the setting `join` (`open`: at once, `approval`: after approval), or by an invite link. `link.info`
              shows the title of a link's conversation to all users except those who are banned from it.
            - `past`: from the first visible event to the one with which the membership ended.
            - The sender can edit a message, remove its preview and recall it for the times that `--edit-hours` and
              `--recall-hours` of `apus serve` set (default: 48 hours). Owners and admins recall at any time.
            - A member who is silenced cannot: \(silenced).
            - The role of a member can be changed, and a member removed, silenced or banned, by roles above it only.
            - Users who requested to join or are banned, and strangers, get `not_found`, as if there were no such
              conversation. All others get `forbidden`.
            - A user is added to a group at once by contacts only, or by all users if their setting `add` is `all`; others send
              an invitation. A user who blocks the inviter does not see it.
            - In a pair, messages of a blocked user are accepted, and hidden from the user who blocks. In groups a block
              hides nothing on the server.

            """
    }
}
