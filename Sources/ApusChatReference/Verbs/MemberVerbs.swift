import ApusChatProtocol

extension ChatReference {
    /// The verbs of members and links.
    static let memberVerbs = VerbGroup(
        title: "Members and links",
        verbs: [
            Verb(
                ChatVerbs.members,
                "Requests the members of a conversation, in a fixed order.",
                request: [
                    .conv,
                    .may("query", .words(ChatLimits.queryLength), "A part of the account name or of the shown name."),
                    .may(
                        "state", .choice(MemberState.self),
                        "The state of the listed users; `joined` by default. The owner and the admins can also request `invited`, `requested` and `banned`."
                    ),
                    .may("page", .token, "The `page` of the previous answer; absent for the first page."),
                ],
                answer: [
                    .must("members", .list(.shape("Member"), ChatLimits.membersPage), "The members."),
                    .must("version", .count, "The version of the list at the time of this page."),
                    .must("total", .count, "The number of members."),
                    .may("page", .token, "The token of the next page; absent on the last page."),
                ],
                errors: [.forbidden, .notFound],
                example: #"{"conv": "3g7r0p5a2b4c6", "query": "b"}"#,
                answers: #"""
                    {"members": [{"user": {"name": "bob", "nick": "Bob",
                     "avatar": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     "status": "At the harbour", "online": false, "last_seen": 1790000000000}, "role": "member",
                     "since": 1790000000000, "read": 11, "by": "alice"}], "version": 4, "total": 3,
                     "page": "cDEyMw"}
                    """#),
            Verb(
                ChatVerbs.memberAdd,
                """
                Adds contacts as members, and invites other users. Users who can be neither added nor invited are \
                listed in `unknown`.
                """,
                request: [
                    .id,
                    .conv,
                    .must("users", .list(.user, ChatLimits.requestUsers), "The users."),
                ],
                answer: [
                    .must("conv", .conversation, "The conversation."),
                    .must("id", .client, "The client's id of the request."),
                    .may("seq", .seq, "The `seq` of the last event that was added to the log; absent if there is none."),
                    .must("at", .time, "The time of the change."),
                    .may("added", .list(.user, ChatLimits.requestUsers), "The users who became members."),
                    .may("invited", .list(.user, ChatLimits.requestUsers), "The users who were invited."),
                    .may(
                        "unknown", .list(.user, ChatLimits.requestUsers),
                        "The names without an account, and the users who could be neither added nor invited."),
                ],
                errors: [.forbidden, .notFound, .conflict, .limit, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "3g7r0p5a2b4c6", "users": ["bob", "carol"]}
                    """#,
                answers: #"""
                    {"conv": "3g7r0p5a2b4c6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 3,
                     "at": 1790000000000, "added": ["bob"], "invited": ["carol"]}
                    """#),
            Verb(
                ChatVerbs.memberAnswer,
                "Accepts or declines an invitation to the user.",
                request: [
                    .id,
                    .conv,
                    .must("accept", .bool, "Whether the user joins."),
                ],
                answer: Self.changed + [
                    .may("head", .shape("Head"), "The head of the conversation; absent if the invitation was declined.")
                ],
                errors: [.forbidden, .notFound, .conflict, .limit, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "3g7r0p5a2b4c6", "accept": true}"#,
                answers: #"""
                    {"conv": "3g7r0p5a2b4c6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 4,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.memberJoin,
                "Joins by a link or by the directory. If an approval is needed, the state of the head is `requested`.",
                request: [
                    .id,
                    .may("conv", .conversation, "A conversation that the directory lists."),
                    .may("link", .link, "The code of a link."),
                ],
                answer: [
                    .must("head", .shape("Head"), "The conversation."),
                    .may("invited", .list(.user, ChatLimits.requestUsers), "The users who were invited instead of added."),
                    .may(
                        "unknown", .list(.user, ChatLimits.requestUsers),
                        "The names without an account, and the users who could be neither added nor invited."),
                ],
                errors: [.forbidden, .notFound, .conflict, .limit, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "link": "k7Qm2ZtX9bVw4NsA"}"#,
                answers: #"""
                    {"head": {"conv": "3g7r0p5a2b4c6", "kind": "group", "role": "owner", "title": "Rowing club",
                     "members": 3, "members_version": 4, "settings": {"write": "members", "invite": "members",
                     "manage": "admins", "pin": "admins", "mention_all": "admins", "join": "closed", "listed": false,
                     "history": "all", "slow": 0, "expire": 0, "receipts": true}, "seq": 1, "n": 0,
                     "at": 1790000000000, "last": {"seq": 1, "sender": "alice", "at": 1790000000000,
                     "kind": "conversation.create"}}}
                    """#),
            Verb(
                ChatVerbs.memberApprove,
                "Approves or rejects a request to join.",
                request: [
                    .id,
                    .conv,
                    .must("user", .user, "The user who sent the request."),
                    .must("accept", .bool, "Whether the user becomes a member."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .limit, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "3g7r0p5a2b4c6", "user": "dave",
                     "accept": true}
                    """#,
                answers: #"""
                    {"conv": "3g7r0p5a2b4c6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 5,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.memberLeave,
                "Leaves a conversation. If the owner leaves, the member with the highest role other than `guest` becomes the owner.",
                request: [
                    .id,
                    .conv,
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "3g7r0p5a2b4c6"}"#,
                answers: #"""
                    {"conv": "3g7r0p5a2b4c6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 6,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.memberRemove,
                "Removes members of a lower role, or withdraws invitations.",
                request: [
                    .id,
                    .conv,
                    .must("users", .list(.user, ChatLimits.requestUsers), "The users."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "3g7r0p5a2b4c6", "users": ["dave"]}"#,
                answers: #"""
                    {"conv": "3g7r0p5a2b4c6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 7,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.memberBan,
                "Removes users and prevents them from joining until the ban ends.",
                request: [
                    .id,
                    .conv,
                    .must("users", .list(.user, ChatLimits.requestUsers), "The users."),
                    .may(
                        "until", .time,
                        "The time at which it ends; absent if it has no end. For `member.mute`, 0 restores the permission to write."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "3g7r0p5a2b4c6", "users": ["dave"],
                     "until": 1790000000000}
                    """#,
                answers: #"""
                    {"conv": "3g7r0p5a2b4c6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 8,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.memberUnban,
                "Ends the ban of users.",
                request: [
                    .id,
                    .conv,
                    .must("users", .list(.user, ChatLimits.requestUsers), "The users."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "3g7r0p5a2b4c6", "users": ["dave"]}"#,
                answers: #"""
                    {"conv": "3g7r0p5a2b4c6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 9,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.memberRole,
                """
                Changes the role of members. The role `owner` transfers the conversation to the member, and the \
                former owner becomes an admin.
                """,
                request: [
                    .id,
                    .conv,
                    .must("users", .list(.user, ChatLimits.requestUsers), "The members; exactly one if the role is `owner`."),
                    .must("role", .choice(MemberRole.self), "The new role."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "3g7r0p5a2b4c6", "users": ["bob"],
                     "role": "admin"}
                    """#,
                answers: #"""
                    {"conv": "3g7r0p5a2b4c6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 10,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.memberMute,
                "Silences members until a time; 0 restores the permission to write.",
                request: [
                    .id,
                    .conv,
                    .must("users", .list(.user, ChatLimits.requestUsers), "The users."),
                    .may(
                        "until", .time,
                        "The time at which it ends; absent if it has no end. For `member.mute`, 0 restores the permission to write."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "3g7r0p5a2b4c6", "users": ["bob"],
                     "until": 1790000000000}
                    """#,
                answers: #"""
                    {"conv": "3g7r0p5a2b4c6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 11,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.linkCreate,
                "Creates an invite link. The shared address is `/join#CODE` on the server.",
                request: [
                    .id,
                    .conv,
                    .may("role", .choice(MemberRole.self), "`member` by default, `reader` or `guest`."),
                    .may("expires_at", .time, "The time at which the link expires; absent if it does not."),
                    .may(
                        "uses", .integer(1...100_000),
                        "The maximum number of joins by the link, and of requests to join by it; absent for no limit."),
                    .may("approval", .bool, "Whether users who join by the link need approval."),
                ],
                answer: [
                    .must("link", .shape("InviteLink"), "The link.")
                ],
                errors: [.forbidden, .notFound, .conflict, .limit, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "3g7r0p5a2b4c6", "role": "reader",
                     "expires_at": 1790000000000, "uses": 50, "approval": true}
                    """#,
                answers: #"""
                    {"link": {"code": "k7Qm2ZtX9bVw4NsA", "role": "reader", "by": "alice", "at": 1790000000000,
                     "expires_at": 1790000000000, "uses": 50, "used": 0, "approval": true}}
                    """#),
            Verb(
                ChatVerbs.linkList,
                "Requests the links of a conversation, newest first.",
                request: [
                    .conv
                ],
                answer: [
                    .must("links", .list(.shape("InviteLink"), ChatLimits.links), "The links.")
                ],
                errors: [.forbidden, .notFound],
                example: #"{"conv": "3g7r0p5a2b4c6"}"#,
                answers: #"""
                    {"links": [{"code": "k7Qm2ZtX9bVw4NsA", "role": "member", "by": "alice", "at": 1790000000000,
                     "used": 3}]}
                    """#),
            Verb(
                ChatVerbs.linkRevoke,
                "Invalidates an invite link.",
                request: [
                    .id,
                    .conv,
                    .must("code", .link, "The code."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "3g7r0p5a2b4c6", "code": "k7Qm2ZtX9bVw4NsA"}
                    """#,
                answers: #"{"conv": "3g7r0p5a2b4c6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "at": 1790000000000}"#),
            Verb(
                ChatVerbs.linkInfo,
                "Requests the properties of the conversation of a link. A link that has expired or was revoked is `not_found`, as is every link for users who are banned from its conversation.",
                request: [
                    .must("code", .link, "The code.")
                ],
                answer: [
                    .must("title", .words(ChatLimits.titleLength), "The title."),
                    .must("kind", .choice(ConversationKind.self), "The kind."),
                    .may("avatar", .blob, "The picture."),
                    .must("members", .count, "The number of members."),
                    .must("join", .choice(JoinRule.self), "Whether users join immediately or after approval."),
                    .must("by", .shape("User"), "The user who created the link."),
                ],
                errors: [.notFound],
                example: #"{"code": "k7Qm2ZtX9bVw4NsA"}"#,
                answers: #"""
                    {"title": "Rowing club", "kind": "group", "members": 3, "join": "open", "by": {"name": "alice",
                     "nick": "Alice", "online": true}}
                    """#),
        ])
}
