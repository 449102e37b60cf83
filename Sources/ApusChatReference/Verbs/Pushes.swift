import ApusChatProtocol

extension ChatReference {
    /// The events that the server sends.
    package static let pushes = [
        Push(
            ChatPushes.event,
            "New events of one conversation. If a push is lost, the client requests the events with `history`.",
            [
                .must(
                    "events", .list(.shape("Event"), ChatLimits.historyEvents),
                    "The new events, in the order of `seq`."),
                .may(
                    "silent", .bool,
                    "Whether the client should show no notification, because the sender set `silent` for each of these events."),
                .may("as_of", .seq, "The `seq` up to which the events contain changes; absent for that of the last event."),
            ],
            example: #"""
                {"events": [{"conv": "1q2w3e4r5t6y7", "seq": 18, "n": 13, "sender": "alice",
                 "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "at": 1790000000000, "kind": "text",
                 "body": {"text": "Good"}}]}
                """#),
        Push(
            ChatPushes.head,
            "Changed heads. It is sent at most once a second on each connection.",
            [
                .may(
                    "heads", .list(.shape("Head"), ChatLimits.headsPage),
                    "The heads of new conversations, and of those whose title, members, settings or counters changed for reasons other than new events."
                ),
                .may(
                    "nudges", .list(.shape("HeadNudge"), ChatLimits.conversations),
                    "The newest positions of logs whose events were not pushed."),
                .may("gone", .list(.conversation, ChatLimits.conversations), "The conversations that the user no longer has."),
            ],
            example: #"""
                {"heads": [{"conv": "3g7r0p5a2b4c6", "kind": "group", "role": "owner", "title": "Rowing club",
                 "members": 3, "members_version": 4, "settings": {"write": "members", "invite": "members",
                 "manage": "admins", "pin": "admins", "mention_all": "admins", "join": "closed", "listed": false,
                 "history": "all", "slow": 0, "expire": 0, "receipts": true}, "seq": 1, "n": 0,
                 "at": 1790000000000, "last": {"seq": 1, "sender": "alice", "at": 1790000000000,
                 "kind": "conversation.create"}}], "nudges": [{"conv": "1q2w3e4r5t6y7", "seq": 18, "n": 13,
                 "at": 1790000000000, "last": {"seq": 18, "n": 13, "sender": "alice", "at": 1790000000000,
                 "kind": "text", "text": "Good"}}], "gone": ["3g7r0p5a2b4c6"]}
                """#),
        Push(
            ChatPushes.mark,
            """
            Changed positions. It is sent at most once a second on each connection. `received` of another member is \
            the highest position that one of its devices has reported since it connected.
            """,
            [
                .must("marks", .list(.shape("ReadMark"), ChatLimits.conversations), "The positions that changed.")
            ],
            example: #"{"marks": [{"conv": "1q2w3e4r5t6y7", "user": "bob", "read": 13}]}"#),
        Push(
            ChatPushes.presence,
            "Contacts, and members of subscribed conversations, that have become online or offline.",
            [
                .must("users", .list(.shape("PresenceEntry"), ChatLimits.contacts), "The users.")
            ],
            example: #"{"users": [{"user": "bob", "online": true}]}"#),
        Push(
            ChatPushes.typing,
            "A member is writing, or has stopped.",
            [
                .must("conv", .conversation, "The conversation."),
                .must("user", .user, "The member."),
                .may("stopped", .bool, "Whether the member has stopped writing."),
            ],
            example: #"{"conv": "1q2w3e4r5t6y7", "user": "bob"}"#),
        Push(
            ChatPushes.user,
            "Contacts and members of shared conversations whose profile changed, and the user. Changes are pushed at most once a second.",
            [
                .must("users", .list(.shape("User"), ChatLimits.requestUsers), "The users.")
            ],
            example: #"""
                {"users": [{"name": "bob", "nick": "Bob",
                 "avatar": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                 "status": "At the harbour", "online": false, "last_seen": 1790000000000}]}
                """#),
        Push(
            ChatPushes.signal,
            "Data of a call from a device.",
            [
                .must("conv", .conversation, "The conversation."),
                .must("call", .seq, "The `seq` of the call."),
                .must("from", .user, "The sender."),
                .must("device", .device, "The device of the sender."),
                .must("data", .any, "The data."),
            ],
            example: #"""
                {"conv": "1q2w3e4r5t6y7", "call": 19, "from": "bob", "device": "2d3e4v5c6e7a8",
                 "data": {"candidate": "…"}}
                """#),
        Push(
            ChatPushes.bye,
            """
            The last push of a connection, before the server closes it. After `signed_out`, `account_closed`, \
            `protocol_error` and `version` the client does not reconnect by itself.
            """,
            [
                .must("reason", .choice(ByePush.Reason.self), "The reason."),
                .may(
                    "retry_after", .count,
                    "The time to wait before a reconnection, in milliseconds. Each client receives a different time."),
            ],
            example: #"{"reason": "shutdown", "retry_after": 2000}"#),
    ]
}
