import ApusChatProtocol

extension ChatReference {
    /// The verbs of messages.
    static let messageVerbs = VerbGroup(
        title: "Messages",
        verbs: [
            Verb(
                ChatVerbs.edit,
                """
                Replaces the body of a message of the user, of the kind `text`, `image`, `audio`, `video` or `file`. \
                The kind and, except for `text`, the upload cannot change.
                """,
                request: [
                    .id,
                    .conv,
                    .must("ref", .seq, "The message."),
                    .must("body", .any, "The new body."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .tooLate, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "1q2w3e4r5t6y7", "ref": 17,
                     "body": {"text": "See you at seven"}}
                    """#,
                answers: #"""
                    {"conv": "1q2w3e4r5t6y7", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.previewRemove,
                """
                Removes the preview of the first link from a message of the user, for all members. An edit that changes \
                the text adds a new preview.
                """,
                request: [
                    .id,
                    .conv,
                    .must("ref", .seq, "The message."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .tooLate, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "1q2w3e4r5t6y7", "ref": 17}"#,
                answers: #"""
                    {"conv": "1q2w3e4r5t6y7", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.recall,
                "Removes the body of a message for all members. The owner and the admins can recall the messages of all members.",
                request: [
                    .id,
                    .conv,
                    .must("ref", .seq, "The message."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .tooLate, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "1q2w3e4r5t6y7", "ref": 17}"#,
                answers: #"""
                    {"conv": "1q2w3e4r5t6y7", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.hide,
                "Hides events of a log from the user, on all devices of the user.",
                request: [
                    .id,
                    .conv,
                    .must("seqs", .list(.seq, 100), "The events."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "1q2w3e4r5t6y7", "seqs": [16, 17]}"#,
                answers: #"""
                    {"conv": "0s1e2f3c4v5n6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.react,
                "Adds or removes a reaction of the user.",
                request: [
                    .id,
                    .conv,
                    .must("ref", .seq, "The message."),
                    .must("key", .words(ChatLimits.reactionLength), "The reaction: an emoji, or a short text."),
                    .may("remove", .bool, "Whether the reaction is removed."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .limit, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "1q2w3e4r5t6y7", "ref": 17, "key": "👍"}"#,
                answers: #"""
                    {"conv": "1q2w3e4r5t6y7", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.reactions,
                "Requests the users who reacted to a message. A user with several reactions is listed with each.",
                request: [
                    .conv,
                    .must("ref", .seq, "The message."),
                    .may("key", .words(ChatLimits.reactionLength), "Restricts the answer to one reaction."),
                    .may("page", .token, "The `page` of the previous answer; absent for the first page."),
                ],
                answer: [
                    .must("reactions", .list(.shape("Reaction"), ChatLimits.membersPage), "The reactions."),
                    .may("page", .token, "The token of the next page; absent on the last page."),
                ],
                errors: [.notFound],
                example: #"{"conv": "1q2w3e4r5t6y7", "ref": 17}"#,
                answers: #"{"reactions": [{"user": "alice", "key": "👍"}]}"#),
            Verb(
                ChatVerbs.pin,
                "Pins or unpins a message for all members.",
                request: [
                    .id,
                    .conv,
                    .must("ref", .seq, "The message."),
                    .may("remove", .bool, "Whether to unpin the message."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .limit, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "1q2w3e4r5t6y7", "ref": 17, "remove": true}
                    """#,
                answers: #"""
                    {"conv": "1q2w3e4r5t6y7", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.vote,
                "Sets the user's votes in a poll, which replace earlier ones.",
                request: [
                    .id,
                    .conv,
                    .must("ref", .seq, "The poll."),
                    .must("options", .list(.count, ChatLimits.pollOptions), "The indices of the options; empty withdraws the votes."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .tooLate, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "1q2w3e4r5t6y7", "ref": 9, "options": [1]}
                    """#,
                answers: #"""
                    {"conv": "1q2w3e4r5t6y7", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.pollClose,
                "Ends a poll of the user.",
                request: [
                    .id,
                    .conv,
                    .must("ref", .seq, "The poll."),
                ],
                answer: Self.changed,
                errors: [.forbidden, .notFound, .conflict, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "1q2w3e4r5t6y7", "ref": 9}"#,
                answers: #"""
                    {"conv": "1q2w3e4r5t6y7", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.forward,
                """
                Sends messages of one conversation to another. The server copies them, so that recipients can trust \
                the names of the original senders.
                """,
                request: [
                    .id,
                    .must("conv", .conversation, "The conversation that receives the messages."),
                    .must("from", .conversation, "The conversation that contains the messages."),
                    .must("seqs", .list(.seq, ChatLimits.bundleMessages), "The `seq` of each message, ascending."),
                    .may("bundle", .bool, "Whether the messages are sent as one message of kind `bundle`."),
                    .may("title", .words(ChatLimits.titleLength), "The title of the bundle."),
                    .may("anonymous", .bool, "Whether the names of the original senders are omitted."),
                    .may("silent", .bool, "Whether to send without notifying the recipients."),
                ],
                answer: [
                    .must("conv", .conversation, "The conversation that received the messages."),
                    .must("id", .client, "The client's id of the request."),
                    .must("seqs", .list(.seq, ChatLimits.bundleMessages), "The `seq` of each new message."),
                    .must("at", .time, "The time at which the messages were stored."),
                ],
                errors: [.forbidden, .notFound, .conflict, .limit, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "3g7r0p5a2b4c6", "from": "1q2w3e4r5t6y7",
                     "seqs": [15, 17], "bundle": true, "title": "Plans"}
                    """#,
                answers: #"""
                    {"conv": "3g7r0p5a2b4c6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seqs": [2],
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.schedule,
                "Stores a message that the server sends at a later time. The message is checked again when it is sent.",
                request: [
                    .id,
                    .conv,
                    .must("kind", .kind, "The kind of the message."),
                    .must("body", .any, "The body."),
                    .may("ref", .seq, "The `seq` of the message to which this message replies."),
                    .may("thread", .seq, "The `seq` of the message that began the thread."),
                    .may("silent", .bool, "Whether to send without notifying the recipients."),
                    .must("send_at", .time, "The time at which the message is sent, at most one year ahead."),
                ],
                answer: [
                    .must("scheduled", .shape("ScheduledMessage"), "The stored message.")
                ],
                errors: [.forbidden, .notFound, .conflict, .limit, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "1q2w3e4r5t6y7", "kind": "text",
                     "body": {"text": "Happy birthday!"}, "send_at": 1790086400000}
                    """#,
                answers: #"""
                    {"scheduled": {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "1q2w3e4r5t6y7",
                     "kind": "text", "body": {"text": "Happy birthday!"}, "send_at": 1790086400000}}
                    """#),
            Verb(
                ChatVerbs.scheduled,
                "Requests the user's scheduled messages.",
                request: [
                    .may("conv", .conversation, "Restricts the answer to one conversation."),
                    .may("page", .token, "The `page` of the previous answer; absent for the first page."),
                ],
                answer: [
                    .must("scheduled", .list(.shape("ScheduledMessage"), ChatLimits.scheduledMessages), "The messages."),
                    .may("page", .token, "The token of the next page; absent on the last page."),
                ],
                errors: [],
                example: #"{"conv": "1q2w3e4r5t6y7"}"#,
                answers: #"""
                    {"scheduled": [{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "1q2w3e4r5t6y7",
                     "kind": "text", "body": {"text": "Happy birthday!"}, "send_at": 1790086400000}]}
                    """#),
            Verb(
                ChatVerbs.unschedule,
                "Removes a scheduled message.",
                request: [
                    .id,
                    .must("of", .client, "The id of the request that scheduled the message."),
                ],
                answer: Self.changed,
                errors: [.notFound, .conflict, .storage],
                example: #"{"id": "u-2", "of": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162"}"#,
                answers: #"{"conv": "0s1e2f3c4v5n6", "id": "u-2", "seq": 31, "at": 1790000000000}"#),
        ])
}
