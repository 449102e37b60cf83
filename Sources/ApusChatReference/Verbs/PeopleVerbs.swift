import ApusChatProtocol

extension ChatReference {
    /// The verbs of the user's own settings and of other users.
    static let peopleVerbs = VerbGroup(
        title: "Own settings and people",
        verbs: [
            Verb(
                ChatVerbs.ownSet,
                "Changes the user's settings for a conversation. Absent fields remain unchanged.",
                request: [
                    .id,
                    .conv,
                    .may("pinned", .bool, "Whether the conversation is pinned."),
                    .may("archived", .bool, "Whether the conversation is archived."),
                    .may("muted_until", .time, "The time until which notifications are muted; 0 ends the mute."),
                    .may(
                        "notify", .choice(NotificationRule.self),
                        "The messages that cause notifications while the conversation is not muted."),
                    .may("marked_unread", .bool, "Whether the conversation is marked as unread."),
                    .may(
                        "folders", .list(.words(ChatLimits.folderLength), ChatLimits.folders),
                        "The names of the folders that contain the conversation."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .limit, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "1q2w3e4r5t6y7", "pinned": true,
                     "muted_until": 0, "notify": "mentions", "folders": ["Friends"]}
                    """#,
                answers: #"""
                    {"conv": "0s1e2f3c4v5n6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.draft,
                "Stores the unfinished message of a conversation, for the other devices of the user.",
                request: [
                    .id,
                    .conv,
                    .must("text", .string(ChatLimits.draftLength), "The text; empty removes the draft."),
                    .may("ref", .seq, "The `seq` of the message to which this message replies."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "1q2w3e4r5t6y7", "text": "I will", "ref": 17}
                    """#,
                answers: #"""
                    {"conv": "0s1e2f3c4v5n6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.settings,
                "Requests all settings of the user.",
                request: [],
                answer: [
                    .must("settings", .shape("UserSettings"), "All settings.")
                ],
                errors: [],
                example: #"{}"#,
                answers: #"""
                    {"settings": {"messages": "all", "last_seen": "contacts", "avatar": "all", "add": "contacts", "find": "all",
                     "receipts": true, "typing": true, "quiet_from": 1320, "quiet_until": 420,
                     "folders": [{"name": "Friends"}, {"name": "Unread", "filter": "unread"}]}}
                    """#),
            Verb(
                ChatVerbs.settingsSet,
                "Changes settings of the user. Absent fields remain unchanged; `folders` replaces the whole list.",
                request: [
                    .id,
                    .must("settings", .shape("UserSettings"), "The settings to change. `folders` replaces the whole list."),
                ],
                answer: Self.changed,
                errors: [.conflict, .limit, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "settings": {"last_seen": "none", "folders": []}}
                    """#,
                answers: #"""
                    {"conv": "0s1e2f3c4v5n6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.profileSet,
                "Changes the user's profile, which others see. Absent fields remain unchanged.",
                request: [
                    .id,
                    .may("nick", .string(ChatLimits.nickLength), "The shown name; empty removes it."),
                    .may("avatar", .blobOrEmpty, "The picture; empty removes it."),
                    .may("status", .string(ChatLimits.statusLength), "The status text; empty removes it."),
                ],
                answer: [
                    .must("user", .shape("User"), "The user of the session.")
                ],
                errors: [.notFound, .conflict, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "nick": "Alice L.", "status": ""}"#,
                answers: #"{"user": {"name": "alice", "nick": "Alice L."}}"#),
            Verb(
                ChatVerbs.users,
                "Requests users by their names. The answer omits unknown names.",
                request: [
                    .must("names", .list(.user, ChatLimits.requestUsers), "The names.")
                ],
                answer: [
                    .must("users", .list(.shape("User"), ChatLimits.requestUsers), "The users."),
                    .may("page", .token, "The token of the next page; absent on the last page."),
                ],
                errors: [],
                example: #"{"names": ["bob"]}"#,
                answers: #"""
                    {"users": [{"name": "bob", "nick": "Bob",
                     "avatar": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     "status": "At the harbour", "online": false, "last_seen": 1790000000000}]}
                    """#),
            Verb(
                ChatVerbs.people,
                "Finds users. If the directory of the server is closed, only an exact account name finds a user.",
                request: [
                    .must(
                        "query", .words(ChatLimits.queryLength),
                        "An account name. If the directory is open, a part of an account name or of a shown name. A leading `@` is ignored."
                    ),
                    .may("page", .token, "The `page` of the previous answer; absent for the first page."),
                ],
                answer: [
                    .must("users", .list(.shape("User"), ChatLimits.requestUsers), "The users."),
                    .may("page", .token, "The token of the next page; absent on the last page."),
                ],
                errors: [],
                example: #"{"query": "bob"}"#,
                answers: #"""
                    {"users": [{"name": "bob", "nick": "Bob",
                     "avatar": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     "status": "At the harbour", "online": false, "last_seen": 1790000000000}], "page": "cDEyMw"}
                    """#),
            Verb(
                ChatVerbs.contacts,
                "Requests the contacts, the requests and the blocked users, in a fixed order.",
                request: [
                    .may("state", .choice(ContactState.self), "Restricts the answer to one state."),
                    .may("page", .token, "The `page` of the previous answer; absent for the first page."),
                ],
                answer: [
                    .must("contacts", .list(.shape("Contact"), ChatLimits.usersPage), "The contacts."),
                    .may("page", .token, "The token of the next page; absent on the last page."),
                ],
                errors: [],
                example: #"{"state": "friend"}"#,
                answers: #"""
                    {"contacts": [{"user": {"name": "bob", "nick": "Bob",
                     "avatar": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     "status": "At the harbour", "online": false, "last_seen": 1790000000000}, "state": "friend",
                     "alias": "Bobby", "at": 1790000000000}]}
                    """#),
            Verb(
                ChatVerbs.contactRequest,
                """
                Sends a contact request to a user. Two requests in opposite directions make the users contacts. If \
                the user has blocked the sender, the request is accepted and not delivered.
                """,
                request: [
                    .id,
                    .must("user", .user, "The user."),
                    .may("text", .words(ChatLimits.contactTextLength), "A text that the other user sees with the request."),
                    .may("alias", .words(ChatLimits.nickLength), "The alias that the user gives the contact."),
                ],
                answer: Self.changed,
                errors: [.notFound, .conflict, .limit, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "user": "bob", "text": "We met at the regatta"}"#,
                answers: #"""
                    {"conv": "0s1e2f3c4v5n6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.contactAnswer,
                "Accepts or declines a contact request. The other user is not notified if it is declined.",
                request: [
                    .id,
                    .must("user", .user, "The user who sent the request."),
                    .must("accept", .bool, "Whether the user becomes a contact."),
                ],
                answer: Self.changed,
                errors: [.notFound, .conflict, .limit, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "user": "bob", "accept": false}"#,
                answers: #"""
                    {"conv": "0s1e2f3c4v5n6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.contactRemove,
                "Removes a contact, or withdraws a request. The other user is not notified.",
                request: [
                    .id,
                    .must("user", .user, "The user."),
                ],
                answer: Self.changed,
                errors: [.notFound, .conflict, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "user": "bob"}"#,
                answers: #"""
                    {"conv": "0s1e2f3c4v5n6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.contactAlias,
                "Sets the alias of a contact, which only the user sees.",
                request: [
                    .id,
                    .must("user", .user, "The contact."),
                    .must("alias", .string(ChatLimits.nickLength), "The alias; empty removes it."),
                ],
                answer: Self.changed,
                errors: [.notFound, .conflict, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "user": "bob", "alias": "Bobby"}"#,
                answers: #"""
                    {"conv": "0s1e2f3c4v5n6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.block,
                "Blocks a user. Further messages of that user in the pair conversation are hidden. The other user is not notified.",
                request: [
                    .id,
                    .must("user", .user, "The user."),
                ],
                answer: Self.changed,
                errors: [.notFound, .conflict, .limit, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "user": "bob"}"#,
                answers: #"""
                    {"conv": "0s1e2f3c4v5n6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.unblock,
                "Unblocks a user. Messages that were sent while the user was blocked remain hidden.",
                request: [
                    .id,
                    .must("user", .user, "The user."),
                ],
                answer: Self.changed,
                errors: [.notFound, .conflict, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "user": "bob"}"#,
                answers: #"""
                    {"conv": "0s1e2f3c4v5n6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.report,
                "Reports messages, a user or a conversation to the operators of the server.",
                request: [
                    .id,
                    .may(
                        "conv", .conversation,
                        "The conversation of the messages. Without `seqs` and `user`, the conversation itself is reported."),
                    .may("seqs", .list(.seq, 100), "The messages."),
                    .may("user", .user, "The user; ignored if the request names messages."),
                    .must("reason", .choice(ReportReason.self), "The reason."),
                    .may("text", .words(ChatLimits.aboutLength), "An explanation."),
                ],
                answer: [],
                errors: [.notFound, .conflict, .limit, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "1q2w3e4r5t6y7", "seqs": [17],
                     "reason": "spam", "text": "An advertisement"}
                    """#,
                answers: #"{}"#),
        ])
}
