import ApusChatProtocol

extension ChatReference {
    /// Own settings and people.
    static let peopleVerbs = VerbGroup(
        title: "Own settings and people",
        verbs: [
            Verb(
                ChatVerbs.ownSet,
                "Changes the user's own settings for a conversation. Absent fields stay as they are.",
                request: [
                    .id,
                    .conv,
                    .may("pinned", .bool, "Whether the conversation is pinned."),
                    .may("archived", .bool, "Whether it is archived."),
                    .may("muted_until", .time, "The time until which there are no notifications; 0 for notifications."),
                    .may("notify", .choice(NotificationRule.self), "The messages that cause notifications while it is not muted."),
                    .may("marked_unread", .bool, "Whether it is marked as unread."),
                    .may("folders", .list(.words(ChatLimits.folderLength), ChatLimits.folders), "The folders that contain it."),
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
                    .may("ref", .seq, "The message that it replies to."),
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
                "Changes settings of the user. Absent fields stay as they are; `folders` replaces the whole list.",
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
                "Changes what others see of the user. Absent fields stay as they are.",
                request: [
                    .id,
                    .may("nick", .string(ChatLimits.nickLength), "The shown name; empty removes it."),
                    .may("avatar", .blobOrEmpty, "The picture; empty removes it."),
                    .may("status", .string(ChatLimits.statusLength), "The status text; empty removes it."),
                ],
                answer: [
                    .must("user", .shape("User"), "The own user.")
                ],
                errors: [.notFound, .conflict, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "nick": "Alice L.", "status": ""}"#,
                answers: #"{"user": {"name": "alice", "nick": "Alice L."}}"#),
            Verb(
                ChatVerbs.users,
                "Requests users by their names. Unknown names are left out of the answer.",
                request: [
                    .must("names", .list(.user, ChatLimits.requestUsers), "The names.")
                ],
                answer: [
                    .must("users", .list(.shape("User"), ChatLimits.requestUsers), "The users."),
                    .may("page", .token, "The position of the next page; absent on the last one."),
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
                "Finds users. Where the directory of the server is closed, only an exact account name finds one.",
                request: [
                    .must("query", .words(ChatLimits.queryLength), "An account name, or a part of the shown name."),
                    .may("page", .token, "The `page` of the previous answer; absent for the first page."),
                ],
                answer: [
                    .must("users", .list(.shape("User"), ChatLimits.requestUsers), "The users."),
                    .may("page", .token, "The position of the next page; absent on the last one."),
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
                "Requests the contacts, the requests and the blocked users, ordered by name.",
                request: [
                    .may("state", .choice(ContactState.self), "Restricts the answer to one state."),
                    .may("page", .token, "The `page` of the previous answer; absent for the first page."),
                ],
                answer: [
                    .must("contacts", .list(.shape("Contact"), ChatLimits.usersPage), "The contacts."),
                    .may("page", .token, "The position of the next page; absent on the last one."),
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
                Asks a user to become a contact. Two requests that cross make a contact. A user that blocked the \
                requesting one is not told.
                """,
                request: [
                    .id,
                    .must("user", .user, "The user."),
                    .may("text", .words(ChatLimits.contactTextLength), "A text for the user."),
                    .may("alias", .words(ChatLimits.nickLength), "The name that the user gives the contact."),
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
                "Answers a request. The other user is not told of a refusal.",
                request: [
                    .id,
                    .must("user", .user, "The user that asked."),
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
                "Ends a contact, or takes back a request. The other user is not told.",
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
                "Gives a contact a name that the user alone sees.",
                request: [
                    .id,
                    .must("user", .user, "The contact."),
                    .must("alias", .string(ChatLimits.nickLength), "The name; empty removes it."),
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
                "Blocks a user, whose messages of the pair conversation stay invisible. The other user is not told.",
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
                "Ends the blocking of a user. Messages sent meanwhile stay invisible.",
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
                "Reports messages or a user to the operators of the server.",
                request: [
                    .id,
                    .may("conv", .conversation, "The conversation of the messages."),
                    .may("seqs", .list(.seq, 100), "The messages."),
                    .may("user", .user, "The user."),
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
