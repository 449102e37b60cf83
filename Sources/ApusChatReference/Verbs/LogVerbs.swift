import ApusChatProtocol

extension ChatReference {
    /// Session and log.
    static let logVerbs = VerbGroup(
        title: "Session and log",
        verbs: [
            Verb(
                ChatVerbs.hello,
                "Opens the session; the first request of a connection. Other requests before it are answered `unauthorized`.",
                request: [
                    .must("version", .integer(1...1_000_000), "The highest protocol version of the client."),
                    .may("features", .list(.words(40), 100), "The features of the client."),
                    .may(
                        "frame_bytes", .integer(1_024...WireReader.largestInteger),
                        "The size of the largest answer that the client reads, in bytes. Below \(ChatLimits.answerBytes), the request is refused."
                    ),
                    .must("device", .shape("HelloDevice"), "The device."),
                    .may("epoch", .token, "The data epoch of the client's cache."),
                    .may("sync", .shape("SyncRequest"), "A `sync` to be answered at once, so that a reconnection takes one request."),
                ],
                answer: [
                    .must("version", .integer(1...1_000_000), "The version of the session: the lower of both sides."),
                    .may("features", .list(.words(40), 100), "The features of the server."),
                    .must("limits", .shape("HelloLimits"), "The limits that a client has to know."),
                    .must(
                        "epoch", .token,
                        """
                        Renewed when the server's data was restored, imported or copied. A client that has another one \
                        discards its cache and keeps its outbox.
                        """),
                    .must("at", .time, "The server's time."),
                    .must("user", .shape("User"), "The own user."),
                    .must("device", .device, "The device."),
                    .must("self", .conversation, "The conversation of kind `self`."),
                    .may("sync", .shape("SyncAnswer"), "The answer to the `sync` of the request; absent if the epoch has changed."),
                ],
                errors: [.unsupported],
                example: #"""
                    {"version": 1, "features": ["edit", "react"], "device": {"name": "Firefox on Linux",
                     "platform": "web", "capabilities": ["call.audio"]}, "epoch": "e1", "sync": {"since": "AAAB2g"}}
                    """#,
                answers: #"""
                    {"version": 1, "features": ["edit", "react"], "limits": {"request_bytes": 131072,
                     "text_length": 8000, "blob_bytes": 104857600, "group_members": 10000, "edit_seconds": 172800,
                     "recall_seconds": 172800}, "epoch": "e1", "at": 1790000000000, "user": {"name": "alice",
                     "nick": "Alice", "online": true}, "device": "2d3e4v5c6e7a8", "self": "0s1e2f3c4v5n6",
                     "sync": {"heads": [], "token": "AAAB2g", "badge": 0}}
                    """#),
            Verb(
                ChatVerbs.send,
                """
                Stores a message. A retry gets the first answer for as long as the message exists, also after it was \
                edited or recalled and after the sender has left. Two requests are the same if the SHA-256 of a byte \
                1 and of the canonical form (RFC 8785) of `{conv, kind, body, ref?, thread?, if_epoch?}` as sent is \
                the same.
                """,
                request: [
                    .id,
                    .conv,
                    .must("kind", .kind, "A kind that can be sent."),
                    .must("body", .any, "The body of the kind."),
                    .may("ref", .seq, "The message that it replies to."),
                    .may("thread", .seq, "The message whose thread it belongs to."),
                    .may("if_epoch", .count, "The epoch of the group of an encrypted conversation. Reserved."),
                    .may("silent", .bool, "Whether recipients are not notified."),
                ],
                answer: [
                    .conv,
                    .must("id", .client, "The client's id of the request."),
                    .must("seq", .seq, "The place in the log."),
                    .must("n", .seq, "The ordinal among the messages."),
                    .must("at", .time, "The time at which the server stored the message."),
                ],
                errors: [.forbidden, .notFound, .conflict, .limit, .epoch, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "1q2w3e4r5t6y7", "kind": "text",
                     "body": {"text": "See you at six, @bob", "entities": [{"type": "bold", "offset": 11, "length": 3},
                     {"type": "mention", "offset": 16, "length": 4, "user": "bob"}]}, "ref": 15}
                    """#,
                answers: #"""
                    {"conv": "1q2w3e4r5t6y7", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 17, "n": 12,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.sync,
                """
                Requests the heads that changed since an earlier sync. The pages of one sync together contain each \
                changed conversation once, as a head or in `gone`. A token that is too old or of another epoch is \
                answered `resync`.
                """,
                request: [
                    .may("since", .token, "The token of the last complete sync; absent for all heads."),
                    .may("page", .token, "The `page` of the previous answer; absent for the first page."),
                ],
                answer: [
                    .must(
                        "heads", .list(.shape("Head"), ChatLimits.headsPage),
                        """
                        The first page has the pinned conversations and the newest ones, the others follow by the time of \
                        their last change.
                        """),
                    .may("gone", .list(.conversation, ChatLimits.conversations), "The conversations that the user no longer has."),
                    .may("page", .token, "The position of the next page; absent on the last one."),
                    .must(
                        "token", .token,
                        """
                        The token of this sync, taken before the first page and the same on every page. The client stores it \
                        together with the last page.
                        """),
                    .may("badge", .count, "The unread messages of all conversations that are not muted, on the first page."),
                ],
                errors: [.resync],
                example: #"{"since": "AAAB2g"}"#,
                answers: #"""
                    {"heads": [{"conv": "1q2w3e4r5t6y7", "kind": "pair", "peer": {"name": "bob", "nick": "Bob",
                     "avatar": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     "status": "At the harbour", "online": false, "last_seen": 1790000000000}, "members": 2,
                     "members_version": 1, "seq": 17, "n": 12, "read": 10, "unread": 2, "mentions": 1,
                     "at": 1790000000000, "last": {"seq": 17, "n": 12, "sender": "bob", "at": 1790000000000,
                     "kind": "text", "text": "See you at six"}, "pins": [4], "own": {"pinned_at": 1790000000000,
                     "muted_until": 1790000000000, "draft": {"text": "I will", "ref": 17, "at": 1790000000000},
                     "folders": ["Friends"]}}], "gone": ["3g7r0p5a2b4c6"], "page": "cDEyMw", "token": "AAAB3A",
                     "badge": 2}
                    """#),
            Verb(
                ChatVerbs.history,
                "Requests a part of a log. Events that the user may not see have the kind `hidden`.",
                request: [
                    .conv,
                    .may("from", .seq, "Requests the events with this `seq` and above."),
                    .may("before", .seq, "Requests the newest events below this `seq`."),
                    .may("around", .seq, "Requests events on both sides of this `seq`."),
                    .may(
                        "limit", .integer(1...Int64(ChatLimits.historyEvents)),
                        "The maximum number of events. The newest are returned if no `seq` is named."),
                    .may(
                        "thread", .seq,
                        """
                        Restricts the events to the replies of a thread, with the message that began it before the first reply. \
                        Such a page has holes, and is the last one of its direction if it has less than `limit` events.
                        """),
                    .may(
                        "edits", .seq,
                        "Restricts the events to a message in its first form and its edits. Excludes `thread`. Such a page has holes."),
                ],
                answer: [
                    .conv,
                    .must(
                        "events", .list(.shape("Event"), ChatLimits.historyEvents),
                        """
                        Events in ascending order of `seq`, without holes; fewer than requested at the ends of the visible \
                        log and at the limit of an answer.
                        """),
                    .may("mine", .list(.shape("Mine"), ChatLimits.historyEvents), "The own reactions and votes for events of the page."),
                    .must("seq", .count, "The newest event that the user can see. The events contain all changes up to it."),
                    .must("min_seq", .seq, "The first event that the user can see."),
                ],
                errors: [.notFound],
                example: #"{"conv": "1q2w3e4r5t6y7", "before": 18, "limit": 1}"#,
                answers: #"""
                    {"conv": "1q2w3e4r5t6y7", "events": [{"conv": "1q2w3e4r5t6y7", "seq": 17, "n": 12, "sender": "bob",
                     "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405163", "at": 1790000000000, "kind": "text", "ref": 15,
                     "state": "edited", "body": {"text": "See you at six"}, "edited_at": 1790000060000,
                     "reactions": [{"key": "👍", "count": 1}]}], "mine": [{"seq": 17, "reactions": ["👍"]}], "seq": 17,
                     "min_seq": 1}
                    """#),
            Verb(
                ChatVerbs.mark,
                """
                Sets the read position, or tells what the device has received. A client sends its read position \
                until the server has confirmed it.
                """,
                request: [
                    .conv,
                    .may("read", .count, "The ordinal of the last message read. A number at or below the present one has no effect."),
                    .may(
                        "received", .count,
                        "The ordinal of the last message received by this device. It is not stored. One of both is required."),
                ],
                answer: [
                    .conv,
                    .may("read", .count, "The present read position. This and the next fields are absent for `received` alone."),
                    .may("unread", .count, "The unread messages."),
                    .may("mentions", .count, "The unread messages that mention the user."),
                    .may("n", .count, "The ordinal of the newest message that was counted."),
                ],
                errors: [.forbidden, .notFound, .storage],
                example: #"{"conv": "1q2w3e4r5t6y7", "read": 12}"#,
                answers: #"{"conv": "1q2w3e4r5t6y7", "read": 12, "unread": 0, "mentions": 0, "n": 12}"#),
            Verb(
                ChatVerbs.typing,
                "Tells the other members that the user is writing. It is valid for 6 seconds.",
                request: [
                    .conv,
                    .may("stopped", .bool, "Whether the user has stopped writing."),
                ],
                answer: [],
                errors: [],
                example: #"{"conv": "1q2w3e4r5t6y7"}"#,
                answers: #"{}"#),
            Verb(
                ChatVerbs.subscribe,
                """
                Names the conversations on the screen, which receive every event, typing and presence. It replaces \
                the previous subscription.
                """,
                request: [
                    .must("convs", .list(.conversation, ChatLimits.subscriptions), "The conversations; empty for none.")
                ],
                answer: [],
                errors: [],
                example: #"{"convs": ["1q2w3e4r5t6y7"]}"#,
                answers: #"{}"#),
            Verb(
                ChatVerbs.readers,
                """
                Requests the members that have read or received a message, in conversations with up to 100 members \
                whose setting `receipts` permits it.
                """,
                request: [
                    .conv,
                    .must("seq", .seq, "The message."),
                    .may("page", .token, "The `page` of the previous answer; absent for the first page."),
                ],
                answer: [
                    .must(
                        "readers", .list(.shape("Reader"), ChatLimits.membersPage), "The members that have read or received the message."),
                    .may("page", .token, "The position of the next page; absent on the last one."),
                ],
                errors: [.forbidden, .notFound],
                example: #"{"conv": "1q2w3e4r5t6y7", "seq": 17}"#,
                answers: #"{"readers": [{"user": "bob", "read": true, "received": true}]}"#),
            Verb(
                ChatVerbs.search,
                """
                Finds messages by words of their texts, newest first. Chinese, Japanese and Korean texts are found \
                by any part.
                """,
                request: [
                    .must("query", .words(ChatLimits.queryLength), "The words; all must occur. A word in quotes occurs as it is."),
                    .may("conv", .conversation, "Restricts the search to a conversation."),
                    .may("sender", .user, "Restricts the search to a sender."),
                    .may("kinds", .list(.kind, 20), "Restricts the search to some kinds."),
                    .may("from_at", .time, "The earliest time."),
                    .may("until_at", .time, "The latest time."),
                    .may("page", .token, "The `page` of the previous answer; absent for the first page."),
                ],
                answer: [
                    .must("hits", .list(.shape("SearchHit"), ChatLimits.searchPage), "The messages."),
                    .may("page", .token, "The position of the next page; absent on the last one."),
                    .may("indexed_at", .time, "The time up to which the index is complete, if it is behind."),
                ],
                errors: [.notFound],
                example: #"{"query": "harbour", "conv": "1q2w3e4r5t6y7", "kinds": ["text"]}"#,
                answers: #"""
                    {"hits": [{"event": {"conv": "1q2w3e4r5t6y7", "seq": 17, "n": 12, "sender": "bob",
                     "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405163", "at": 1790000000000, "kind": "text", "ref": 15,
                     "state": "edited", "body": {"text": "See you at six"}, "edited_at": 1790000060000,
                     "reactions": [{"key": "👍", "count": 1}]}, "snippet": "See you at six", "ranges": [{"offset": 11,
                     "length": 3}]}], "page": "cDEyMw"}
                    """#),
        ])
}
