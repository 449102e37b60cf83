import ApusChatProtocol

extension ChatReference {
    /// The verbs of the session and the log.
    static let logVerbs = VerbGroup(
        title: "Session and log",
        verbs: [
            Verb(
                ChatVerbs.hello,
                "Opens the session; the first request of a connection. Other requests before it are answered with `unauthorized`.",
                request: [
                    .must("version", .integer(1...1_000_000), "The highest protocol version of the client."),
                    .may(
                        "features", .list(.words(40), 100),
                        """
                        The features of the client. Unknown features are ignored. A client that lists features \
                        receives a push that needs a feature only if it lists that feature; a client without a list \
                        receives all pushes. Events of a log are never omitted.
                        """),
                    .may(
                        "frame_bytes", .integer(1_024...WireReader.largestInteger),
                        "The maximum size of an answer that the client can read, in bytes. Below \(ChatLimits.answerBytes), "
                            + "the request is refused."
                    ),
                    .must("device", .shape("HelloDevice"), "The device."),
                    .may("epoch", .token, "The data epoch of the data that the client has cached."),
                    .may(
                        "sync", .shape("SyncRequest"),
                        "A `sync` that is answered together with `hello`, so that a reconnection takes one request."),
                ],
                answer: [
                    .must("version", .integer(1...1_000_000), "The protocol version of the session: the lower one of the two versions."),
                    .may("features", .list(.words(40), 100), "All features of the server."),
                    .must("limits", .shape("HelloLimits"), "The limits that a client needs before it sends requests."),
                    .must(
                        "epoch", .token,
                        """
                        The data epoch. It is renewed when the server's data is restored, imported or copied. A \
                        client with another epoch discards its cache and keeps its unsent messages.
                        """),
                    .must("at", .time, "The server's time."),
                    .must("user", .shape("User"), "The user of the session."),
                    .must("device", .device, "The device."),
                    .must("self", .conversation, "The conversation of kind `self`."),
                    .may(
                        "sync", .shape("SyncAnswer"),
                        "The answer to the `sync` of the request; absent if the epoch has changed or the token of the `sync` is too old."),
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
                Stores a message and sends it to the members. A retry gets the first answer for as long as the \
                message exists, even if the message was edited or recalled or the sender has left. Two requests are \
                the same if they have the same SHA-256 of a byte 1 and the canonical form (RFC 8785) of `{conv, kind, \
                body, ref?, thread?, if_epoch?}` as sent.
                """,
                request: [
                    .id,
                    .conv,
                    .must("kind", .kind, "A kind that clients can send."),
                    .must("body", .any, "The body of the kind."),
                    .may("ref", .seq, "The `seq` of the message to which this message replies."),
                    .may("thread", .seq, "The `seq` of the message that began the thread."),
                    .may("if_epoch", .count, "The epoch of the group of an encrypted conversation. Reserved."),
                    .may("silent", .bool, "Whether to send without notifying the recipients."),
                ],
                answer: [
                    .conv,
                    .must("id", .client, "The client's id of the request."),
                    .must("seq", .seq, "The position in the log."),
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
                changed conversation, as a head or in `gone`. A conversation that changes between two pages can be \
                missing; the next sync contains it. A token that is too old or belongs to another data \
                epoch is answered with `resync`.
                """,
                request: [
                    .may("since", .token, "The token of the last complete sync; absent for all heads."),
                    .may("page", .token, "The `page` of the previous answer; absent for the first page."),
                ],
                answer: [
                    .must(
                        "heads", .list(.shape("Head"), ChatLimits.headsPage),
                        """
                        Without `since`, the first page contains the pinned conversations and the newest ones, and the \
                        other pages follow in the order of the last changes. With `since`, the order is not specified.
                        """),
                    .may("gone", .list(.conversation, ChatLimits.conversations), "The conversations that the user no longer has."),
                    .may("page", .token, "The token of the next page; absent on the last page."),
                    .must(
                        "token", .token,
                        """
                        The token of this sync. It is read before the first page and is the same on every page. The \
                        client stores it together with the last page.
                        """),
                    .may(
                        "badge", .count,
                        "The total number of unread messages in all conversations that are not muted; only on the first page."),
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
                    .may("from", .seq, "Requests the oldest events from this `seq` onward."),
                    .may("before", .seq, "Requests the newest events before this `seq`."),
                    .may(
                        "around", .seq,
                        "Requests the events around this `seq`: at most half of `limit` before it, and the rest from it onward."),
                    .may(
                        "limit", .integer(1...Int64(ChatLimits.historyEvents)),
                        "The maximum number of events. The newest events are returned if no `seq` is given."),
                    .may(
                        "thread", .seq,
                        """
                        Restricts the events to a thread: the message that began it, and its replies. The events of \
                        such a page are not consecutive. A page with fewer than `limit` events is the last one in its \
                        direction.
                        """),
                    .may(
                        "edits", .seq,
                        """
                        Restricts the events to a message and its first edits, at most \(ChatLimits.historyEvents - 1), \
                        each with its original content. Later edits are only in the log. Excludes `thread`. The \
                        events of such a page are not consecutive.
                        """),
                ],
                answer: [
                    .conv,
                    .must(
                        "events", .list(.shape("Event"), ChatLimits.historyEvents),
                        """
                        Events in ascending order of `seq`, which are consecutive without `thread` and `edits`. \
                        There can be fewer than requested, at the ends of the visible log and at the size limit of \
                        an answer.
                        """),
                    .may(
                        "mine", .list(.shape("Mine"), ChatLimits.historyEvents),
                        "The requesting user's reactions and votes for events of the page."),
                    .must("seq", .count, "The `seq` of the newest event that the user can see. The events contain all changes up to it."),
                    .must("min_seq", .seq, "The `seq` of the first event that the user can see."),
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
                Sets the read position, or reports the last message that the device has received. A client repeats \
                its read position until the server has confirmed it.
                """,
                request: [
                    .conv,
                    .may(
                        "read", .count,
                        "The ordinal of the last message read. A lower or equal ordinal does not move the position. Ends a mark as unread."),
                    .may(
                        "received", .count,
                        "The ordinal of the last message that this device has received. It is not stored. `read` or `received` is required."
                    ),
                ],
                answer: [
                    .conv,
                    .may(
                        "read", .count,
                        "The current read position. This field and the following ones are absent if the request contained only `received`."),
                    .may("unread", .count, "The unread messages."),
                    .may("mentions", .count, "The unread messages that mention the user."),
                    .may("n", .count, "The ordinal of the newest message that was counted."),
                ],
                errors: [.forbidden, .notFound, .storage],
                example: #"{"conv": "1q2w3e4r5t6y7", "read": 12}"#,
                answers: #"{"conv": "1q2w3e4r5t6y7", "read": 12, "unread": 0, "mentions": 0, "n": 12}"#),
            Verb(
                ChatVerbs.typing,
                "Notifies the other members that the user is writing. Clients show it for 6 seconds.",
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
                Sets the conversations that are on the screen. The connection receives all their events, typing \
                notifications and presences. Replaces the previous subscription.
                """,
                request: [
                    .must("convs", .list(.conversation, ChatLimits.subscriptions), "The conversations; empty if none is on the screen.")
                ],
                answer: [],
                errors: [],
                example: #"{"convs": ["1q2w3e4r5t6y7"]}"#,
                answers: #"{}"#),
            Verb(
                ChatVerbs.readers,
                """
                Requests the members who have read or received a message. It is available in conversations with at \
                most 100 members and the setting `receipts`, except channels. A user whose own `receipts` is off is not \
                listed, and gets an empty list.
                """,
                request: [
                    .conv,
                    .must("seq", .seq, "The message."),
                    .may("page", .token, "The `page` of the previous answer; absent for the first page."),
                ],
                answer: [
                    .must(
                        "readers", .list(.shape("Reader"), ChatLimits.membersPage), "The members who have read or received the message."),
                    .may("page", .token, "The token of the next page; absent on the last page."),
                ],
                errors: [.forbidden, .notFound],
                example: #"{"conv": "1q2w3e4r5t6y7", "seq": 17}"#,
                answers: #"{"readers": [{"user": "bob", "read": true, "received": true}]}"#),
            Verb(
                ChatVerbs.search,
                """
                Finds messages by the words of their texts, newest first. Chinese, Japanese and Korean texts are \
                found by any part of them. Without words, lists the messages of some kinds in a conversation, such \
                as its pictures; their snippets are empty.
                """,
                request: [
                    .may(
                        "query", .words(ChatLimits.queryLength),
                        "The words. A message must contain all of them; text in quotes must occur literally. Required without `conv` and `kinds`."
                    ),
                    .may("conv", .conversation, "Restricts the search to a conversation."),
                    .may("sender", .user, "Restricts the search to a sender."),
                    .may("kinds", .list(.kind, 20), "Restricts the search to kinds of messages."),
                    .may("from_at", .time, "The earliest time."),
                    .may("until_at", .time, "The latest time."),
                    .may("page", .token, "The `page` of the previous answer; absent for the first page."),
                ],
                answer: [
                    .must("hits", .list(.shape("SearchHit"), ChatLimits.searchPage), "The messages."),
                    .may("page", .token, "The token of the next page; absent on the last page."),
                    .may("indexed_at", .time, "The time up to which the index contains all messages; absent if it contains all of them."),
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
