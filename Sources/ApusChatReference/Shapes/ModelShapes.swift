import ApusChatProtocol

extension ChatReference {
    /// The objects of the model.
    static let modelShapes = [
        Shape(
            "Event",
            """
            An entry in a log. The server also applies a change to the event to which it refers, so that a page of \
            the log contains each message in its current form.
            """,
            [
                .must("conv", .conversation, "The conversation."),
                .must("seq", .seq, "The position in the log: 1, 2, 3 and so on, without gaps."),
                .may("n", .seq, "The ordinal among the messages; absent for a change."),
                .may("sender", .user, "The sender; absent for a hidden event and for an event of the server."),
                .may(
                    "id", .client,
                    "The id that the sender's client chose for the message; absent for a change, a forwarded message and a call."),
                .may("at", .time, "The time at which the server stored the event; absent for a hidden event."),
                .must("kind", .kind, "The kind."),
                .may("ref", .seq, "The `seq` of the event to which a reply or a change refers."),
                .may(
                    "thread", .seq,
                    "The message whose thread this reply belongs to. A client adds a new reply to the `replies` of that message."),
                .may(
                    "state", .choice(EventState.self),
                    "The state of the content; absent for `normal`. `recalled`, `expired` and `erased` have no body."),
                .may("body", .any, "The content, depending on the kind."),
                .may("edited_at", .time, "The time of the last edit; for a `call`, the time of the last change of its state."),
                .may(
                    "expires_at", .time,
                    """
                    The time at which the message expires. There is no event at that time: from then on, a client \
                    shows the state `expired` and no body.
                    """),
                .may("reactions", .list(.shape("ReactionCount"), ChatLimits.reactions), "The reactions, most frequent first."),
                .may(
                    "votes", .list(.count, ChatLimits.pollOptions),
                    "The number of votes for each option of a poll. In a `vote`, the numbers of its poll after the vote."),
                .may("replies", .shape("ThreadSummary"), "The thread that this message began."),
            ], recode: Recode(ChatEvent.self)),
        Shape(
            "ReactionCount", "A reaction to a message, and the number of users who reacted with it.",
            [
                .must("key", .words(ChatLimits.reactionLength), "The reaction."),
                .must("count", .count, "The number of users."),
            ], recode: Recode(ReactionCount.self)),
        Shape(
            "ThreadSummary", "The replies of a thread.",
            [
                .must("count", .count, "The number of replies, including those whose content was removed."),
                .must("seq", .count, "The `seq` of the newest reply."),
            ], recode: Recode(ThreadSummary.self)),
        Shape(
            "Head",
            """
            The summary of a conversation for one user. It contains no list of members, and does not change with the \
            read positions of other members.
            """,
            [
                .must("conv", .conversation, "The conversation."),
                .must("kind", .choice(ConversationKind.self), "The kind."),
                .may("state", .choice(MemberState.self), "The recipient's relation to the conversation; absent for `joined`."),
                .may("role", .choice(MemberRole.self), "The recipient's role; absent for `member`."),
                .may("title", .words(ChatLimits.titleLength), "The title of a group or channel."),
                .may("avatar", .blob, "The picture of a group or channel."),
                .may("peer", .shape("User"), "The other user of a pair, or the user who invited the recipient."),
                .may("members", .count, "The number of members of a group or channel."),
                .may("members_version", .count, "A number that increases with each change of the members of a group or channel."),
                .may("settings", .shape("Settings"), "The settings; for a pair or a self conversation only if its messages expire."),
                .must("seq", .count, "The `seq` of the newest event that the recipient can see; 0 for an empty log."),
                .must("n", .count, "The ordinal of the newest message."),
                .may("min_seq", .seq, "The first `seq` that the recipient can see; absent for 1."),
                .may("read", .count, "The ordinal of the last message read."),
                .may("unread", .count, "The number of messages that the recipient has not read."),
                .may("mentions", .count, "The number of unread messages that mention the recipient."),
                .must(
                    "at", .time,
                    "The time of the newest event that moves the conversation up in lists: a message, a change of the profile or the settings, or the invitation, the join, the leave or the removal of members. Other changes do not, such as changes of roles, bans and messages. For a user who is not a member, the time at which the user entered the `state`."
                ),
                .may("last", .shape("Preview"), "That event."),
                .may("pins", .list(.seq, ChatLimits.pinnedMessages), "The pinned messages, newest first."),
                .may("call", .seq, "The `seq` of the running call."),
                .may(
                    "silenced_until", .time,
                    "The time until which an admin does not let the recipient write; absent if it is not silenced. It may have passed."),
                .may("own", .shape("Own"), "The recipient's settings for the conversation."),
            ], recode: Recode(ChatHead.self)),
        Shape(
            "Preview", "An event in the form that a list of conversations shows.",
            [
                .must("seq", .count, "The position in the log."),
                .may("n", .seq, "The ordinal; absent for a change."),
                .may("sender", .user, "The sender."),
                .may("at", .time, "The time."),
                .must("kind", .kind, "The kind. It determines what the list shows if there is no text."),
                .may("state", .choice(EventState.self), "The state of the content."),
                .may(
                    "text", .string(ChatLimits.previewLength),
                    "The beginning of the text or caption, or of the name of the file, place or user, the question of the poll, or the title of the bundle."
                ),
                .may("users", .list(.user, ChatLimits.previewUsers), "The users affected by a change."),
                .may("call", .choice(CallState.self), "The state of a call."),
                .may("media", .choice(CallMedia.self), "The media of a call."),
                .may("voice", .bool, "Whether it is a voice message."),
                .may("duration", .count, "The duration of a call that has ended, or of a recording, in milliseconds."),
            ], recode: Recode(EventPreview.self)),
        Shape(
            "Own", "A user's settings for a conversation.",
            [
                .may("pinned_at", .time, "The time at which the user pinned the conversation."),
                .may("archived", .bool, "Whether the conversation is archived."),
                .may("muted_until", .time, "The time until which notifications are muted."),
                .may(
                    "notify", .choice(NotificationRule.self),
                    "The messages that cause notifications while the conversation is not muted; absent for `all`."),
                .may("marked_unread", .bool, "Whether the conversation is marked as unread."),
                .may("draft", .shape("Draft"), "The unfinished message."),
                .may(
                    "folders", .list(.words(ChatLimits.folderLength), ChatLimits.folders),
                    "The names of the folders that contain the conversation."),
            ], recode: Recode(OwnSettings.self)),
        Shape(
            "Draft", "An unfinished message.",
            [
                .must("text", .string(ChatLimits.draftLength), "The text."),
                .may("ref", .seq, "The `seq` of the message to which this message replies."),
                .must("at", .time, "The time of the last change."),
            ], recode: Recode(Draft.self)),
        Shape(
            "Settings",
            "The settings of a group or channel; only `expire` applies to other conversations. Servers send all settings; an absent setting has its default value.",
            [
                .may("write", .choice(MemberScope.self), "The members who may write."),
                .may("invite", .choice(MemberScope.self), "The members who may invite and add users."),
                .may("manage", .choice(MemberScope.self), "The members who may change the title, picture and description."),
                .may("pin", .choice(MemberScope.self), "The members who may pin messages."),
                .may("mention_all", .choice(MemberScope.self), "The members who may mention all."),
                .may("join", .choice(JoinRule.self), "The way in which users join without an invitation or an invite link."),
                .may("listed", .bool, "Whether the directory lists the conversation."),
                .may("history", .choice(HistoryRule.self), "The part of the log that a new member sees."),
                .may("slow", .integer(0...ChatLimits.slowSeconds), "The minimum time between two messages of a member, in seconds."),
                .may(
                    "expire", .integer(0...ChatLimits.expireSeconds), "The time after which messages expire, in seconds; 0 if they do not."),
                .may("receipts", .bool, "Whether members see the read positions of others."),
            ], recode: Recode(ConversationSettings.self)),
        Shape(
            "SettingsChange", "New values of some settings.",
            [
                .may("write", .choice(MemberScope.self), "The members who may write."),
                .may("invite", .choice(MemberScope.self), "The members who may invite and add users."),
                .may("manage", .choice(MemberScope.self), "The members who may change the title, picture and description."),
                .may("pin", .choice(MemberScope.self), "The members who may pin messages."),
                .may("mention_all", .choice(MemberScope.self), "The members who may mention all."),
                .may("join", .choice(JoinRule.self), "The way in which users join without an invitation or an invite link."),
                .may("listed", .bool, "Whether the directory lists the conversation."),
                .may("history", .choice(HistoryRule.self), "The part of the log that a new member sees."),
                .may("slow", .integer(0...ChatLimits.slowSeconds), "The minimum time between two messages of a member, in seconds."),
                .may(
                    "expire", .integer(0...ChatLimits.expireSeconds), "The time after which messages expire, in seconds; 0 if they do not."),
                .may("receipts", .bool, "Whether members see the read positions of others."),
            ], recode: Recode(ConversationSettingsChange.self)),
        Shape(
            "User", "A user as shown to another user.",
            [
                .must("name", .user, "The account name."),
                .may("nick", .words(ChatLimits.nickLength), "The shown name, which several users may have."),
                .may("avatar", .blob, "The picture."),
                .may("status", .words(ChatLimits.statusLength), "The status text."),
                .may("online", .bool, "Whether a device of the user is connected; absent if the recipient may not see it."),
                .may(
                    "last_seen", .time,
                    "The end of the last connection, or the time of the last sign-in or renewal of a session if the server has restarted since then; absent if the user is online or the recipient may not see it."
                ),
                .may("deleted", .bool, "Whether the account was deleted."),
            ], recode: Recode(ChatUser.self)),
        Shape(
            "Member", "A member of a conversation.",
            [
                .must("user", .shape("User"), "The user."),
                .must("role", .choice(MemberRole.self), "The role."),
                .may("state", .choice(MemberState.self), "The relation to the conversation; absent for `joined`."),
                .must("since", .time, "The time at which the user entered the state."),
                .may("read", .count, "The ordinal of the last message that the member has read; absent if read positions are not shown."),
                .may(
                    "received", .count,
                    "The ordinal of the last message that a device of the member has received, since the server started; absent if positions are not shown, or it is not above `read`."
                ),
                .may("muted_until", .time, "The time until which the member may not write."),
                .may("banned_until", .time, "The time at which the ban ends; absent if it has no end."),
                .may("by", .user, "The member who added or invited the user."),
            ], recode: Recode(ChatMember.self)),
        Shape(
            "Entity", "A range of a text with a format or a meaning. Entities are ordered by `offset`, and are nested or separate.",
            [
                .must("type", .choice(TextEntityKind.self), "The meaning."),
                .must("offset", .integer(0...Int64(ChatLimits.textLength)), "The number of scalars before the range."),
                .must("length", .integer(1...Int64(ChatLimits.textLength)), "The number of scalars in the range."),
                .may("url", .words(2_000), "The address of a link, with the scheme `http`, `https`, `mailto`, `tel` or `xmpp`."),
                .may("user", .user, "The user of a mention."),
                .may("language", .words(30), "The language of a block of code."),
            ], recode: Recode(TextEntity.self)),
    ]
}
