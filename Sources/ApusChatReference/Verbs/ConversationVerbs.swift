import ApusChatProtocol

extension ChatReference {
    /// The verbs of conversations.
    static let conversationVerbs = VerbGroup(
        title: "Conversations",
        verbs: [
            Verb(
                ChatVerbs.conversationOpen,
                "Returns the conversation with another user, which is created if it does not exist.",
                request: [
                    .id,
                    .must("user", .user, "The other user."),
                ],
                answer: [
                    .must("head", .shape("Head"), "The conversation."),
                    .may("invited", .list(.user, ChatLimits.requestUsers), "The users who were invited instead of added."),
                    .may(
                        "unknown", .list(.user, ChatLimits.requestUsers),
                        "The names without an account, and the users who could be neither added nor invited."),
                ],
                errors: [.forbidden, .notFound, .conflict, .limit, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "user": "bob"}"#,
                answers: #"""
                    {"head": {"conv": "1q2w3e4r5t6y7", "kind": "pair", "peer": {"name": "bob", "nick": "Bob",
                     "avatar": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     "status": "At the harbour", "online": false, "last_seen": 1790000000000}, "members": 2,
                     "members_version": 1, "seq": 17, "n": 12, "read": 10, "unread": 2, "mentions": 1,
                     "at": 1790000000000, "last": {"seq": 17, "n": 12, "sender": "bob", "at": 1790000000000,
                     "kind": "text", "text": "See you at six"}, "pins": [4], "own": {"pinned_at": 1790000000000,
                     "muted_until": 1790000000000, "draft": {"text": "I will", "ref": 17, "at": 1790000000000},
                     "folders": ["Friends"]}}}
                    """#),
            Verb(
                ChatVerbs.conversationCreate,
                "Creates a group or a channel, whose owner is the user. Contacts are added, and other users are invited.",
                request: [
                    .id,
                    .must("kind", .choice(ConversationKind.self), "`group` or `channel`."),
                    .must("title", .words(ChatLimits.titleLength), "The title."),
                    .may("about", .words(ChatLimits.aboutLength), "The description."),
                    .may("avatar", .blob, "The picture."),
                    .may("users", .list(.user, ChatLimits.requestUsers), "The first members."),
                    .may("settings", .shape("SettingsChange"), "The settings that differ from the defaults of the kind."),
                ],
                answer: [
                    .must("head", .shape("Head"), "The conversation."),
                    .may("invited", .list(.user, ChatLimits.requestUsers), "The users who were invited instead of added."),
                    .may(
                        "unknown", .list(.user, ChatLimits.requestUsers),
                        "The names without an account, and the users who could be neither added nor invited."),
                ],
                errors: [.notFound, .conflict, .limit, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "kind": "group", "title": "Rowing club",
                     "about": "Every Tuesday", "users": ["bob", "carol"], "settings": {"slow": 10}}
                    """#,
                answers: #"""
                    {"head": {"conv": "3g7r0p5a2b4c6", "kind": "group", "role": "owner", "title": "Rowing club",
                     "members": 3, "members_version": 4, "settings": {"write": "members", "invite": "members",
                     "manage": "admins", "pin": "admins", "mention_all": "admins", "join": "closed", "listed": false,
                     "history": "all", "slow": 0, "expire": 0, "receipts": true}, "seq": 1, "n": 0,
                     "at": 1790000000000, "last": {"seq": 1, "sender": "alice", "at": 1790000000000,
                     "kind": "conversation.create"}}, "invited": ["carol"]}
                    """#),
            Verb(
                ChatVerbs.conversationInfo,
                "Requests the properties of a conversation that its head does not contain.",
                request: [
                    .conv
                ],
                answer: [
                    .must("head", .shape("Head"), "The current head."),
                    .may("about", .words(ChatLimits.aboutLength), "The description."),
                    .must("created_at", .time, "The time of creation."),
                    .may("by", .user, "The user who created the conversation."),
                ],
                errors: [.notFound],
                example: #"{"conv": "3g7r0p5a2b4c6"}"#,
                answers: #"""
                    {"head": {"conv": "3g7r0p5a2b4c6", "kind": "group", "role": "owner", "title": "Rowing club",
                     "members": 3, "members_version": 4, "settings": {"write": "members", "invite": "members",
                     "manage": "admins", "pin": "admins", "mention_all": "admins", "join": "closed", "listed": false,
                     "history": "all", "slow": 0, "expire": 0, "receipts": true}, "seq": 1, "n": 0,
                     "at": 1790000000000, "last": {"seq": 1, "sender": "alice", "at": 1790000000000,
                     "kind": "conversation.create"}}, "about": "Every Tuesday", "created_at": 1790000000000,
                     "by": "alice"}
                    """#),
            Verb(
                ChatVerbs.conversationSet,
                """
                Changes the title, description, picture or settings. Absent fields remain unchanged. In a pair or a \
                self conversation, only `settings.expire` can change.
                """,
                request: [
                    .id,
                    .conv,
                    .may("title", .words(ChatLimits.titleLength), "The new title."),
                    .may("about", .string(ChatLimits.aboutLength), "The new description; empty removes it."),
                    .may("avatar", .blobOrEmpty, "The new picture; empty removes it."),
                    .may("settings", .shape("SettingsChange"), "The settings to change."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "3g7r0p5a2b4c6",
                     "title": "Rowing club Kiel", "avatar": "", "settings": {"write": "admins", "join": "approval"}}
                    """#,
                answers: #"""
                    {"conv": "3g7r0p5a2b4c6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.conversationDelete,
                """
                Removes a conversation from the user's list until a new message arrives, and hides its log up to now \
                from the user; or deletes it for all members.
                """,
                request: [
                    .id,
                    .conv,
                    .may("for_all", .bool, "Whether to delete the conversation for all members, which only its owner can do."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "3g7r0p5a2b4c6", "for_all": true}"#,
                answers: #"""
                    {"conv": "0s1e2f3c4v5n6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.directory,
                "Requests the groups and channels that the server lists, newest first.",
                request: [
                    .may("query", .words(ChatLimits.queryLength), "A part of the title or the description."),
                    .may("page", .token, "The `page` of the previous answer; absent for the first page."),
                ],
                answer: [
                    .must("conversations", .list(.shape("DirectoryEntry"), ChatLimits.usersPage), "The conversations."),
                    .may("page", .token, "The token of the next page; absent on the last page."),
                ],
                errors: [],
                example: #"{"query": "row"}"#,
                answers: #"""
                    {"conversations": [{"conv": "3g7r0p5a2b4c6", "kind": "channel", "title": "Rowing news",
                     "about": "Results", "members": 812, "join": "open"}]}
                    """#),
        ])
}
