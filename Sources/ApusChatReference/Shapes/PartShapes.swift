import ApusChatProtocol

extension ChatReference {
    /// The objects that are parts of requests, answers and bodies.
    static let partShapes = [
        Shape(
            "DraftText", "The content of a draft.",
            [
                .must("text", .words(ChatLimits.draftLength), "The text."),
                .may("ref", .seq, "The `seq` of the message to which this message replies."),
            ], recode: Recode(DraftText.self)),
        Shape(
            "CallAccess", "The access of a device to the room of a media server.",
            [
                .must("backend", .string(1...40), "The kind of the media server: `livekit`."),
                .must("url", .string(1...500), "The address of the media server."),
                .must("token", .string(1...4_000), "The token with which the device joins, by the client library of the media server."),
            ], recode: Recode(CallAccess.self)),
        Shape(
            "LinkPreview", "The preview of the page to which a link leads.",
            [
                .must("url", .words(2_000), "The address."),
                .may("title", .words(300), "The title of the page."),
                .may("text", .words(ChatLimits.captionLength), "The description of the page."),
                .may("site", .words(100), "The name of the site."),
                .may("blob", .blob, "A picture."),
                .may("width", .integer(1...ChatLimits.imageSide), "The width of the picture, in pixels."),
                .may("height", .integer(1...ChatLimits.imageSide), "The height of the picture, in pixels."),
            ], recode: Recode(LinkPreview.self)),
        Shape(
            "ForwardedFrom", "The origin of a forwarded message.",
            [
                .may("sender", .user, "The sender of the original message; absent if it was forwarded without a name."),
                .may("nick", .words(ChatLimits.nickLength), "The shown name of the sender at that time."),
                .must("at", .time, "The time of the original message, in milliseconds since 1970."),
            ], recode: Recode(ForwardedFrom.self)),
        Shape(
            "BundleItem", "A message of a bundle.",
            [
                .may("sender", .user, "The sender; absent if it was forwarded without names."),
                .may("nick", .words(ChatLimits.nickLength), "The shown name of the sender at that time."),
                .must("at", .time, "The time of the message, in milliseconds since 1970."),
                .must("kind", .kind, "The kind; never `bundle`."),
                .must("body", .any, "The body."),
            ], recode: Recode(BundleItem.self)),
        Shape(
            "TextRange", "A range of a text, in Unicode scalars.",
            [
                .must("offset", .count, "The number of scalars before the range."),
                .must("length", .count, "The number of scalars."),
            ], recode: Recode(TextRange.self)),
        Shape(
            "HelloDevice", "The device of a client.",
            [
                .must("name", .words(ChatLimits.nickLength), "The name that the list of sessions shows."),
                .must("platform", .words(20), "`web`, `ios`, `android`, `macos`, `linux`, `windows`, `terminal` or another word."),
                .may(
                    "capabilities", .list(.words(40), 40),
                    "The capabilities of the device, such as `call.audio`. A device that lists capabilities without calls receives no `signal`."
                ),
            ], recode: Recode(HelloDevice.self)),
        Shape(
            "HelloLimits", "The limits of the server that a client needs before it sends requests.",
            [
                .must("request_bytes", .count, "The maximum size of a request."),
                .must("text_length", .count, "The maximum length of a text message."),
                .must("blob_bytes", .count, "The maximum size of an upload."),
                .must("group_members", .count, "The maximum number of members of a group."),
                .must("edit_seconds", .count, "The time for which the sender can edit a message, in seconds."),
                .must("recall_seconds", .count, "The time for which the sender can recall a message, in seconds."),
            ], recode: Recode(HelloLimits.self)),
        Shape(
            "Mine", "The requesting user's reactions and votes for an event.",
            [
                .must("seq", .seq, "The event."),
                .may("reactions", .list(.words(ChatLimits.reactionLength), ChatLimits.ownReactions), "The user's reactions."),
                .may("votes", .list(.count, ChatLimits.pollOptions), "The user's votes."),
            ], recode: Recode(HistoryAnswer.Mine.self)),
        Shape(
            "HeadNudge", "The newest position of a log, without the events.",
            [
                .must("conv", .conversation, "The conversation."),
                .must("seq", .count, "The `seq` of the newest event."),
                .must("n", .count, "The ordinal of the newest message."),
                .must("at", .time, "The time of the newest event that moves the conversation up in lists, as in `Head`."),
                .may("mentions", .count, "The number of unread messages that mention the recipient; absent if it did not change."),
                .may("last", .shape("Preview"), "A preview of the newest message, if the push results from that message."),
            ], recode: Recode(HeadNudge.self)),
        Shape(
            "ReadMark", "A member's position in a log.",
            [
                .must("conv", .conversation, "The conversation."),
                .must("user", .user, "The member. It is the recipient if another device of the recipient set the position."),
                .may("read", .count, "The ordinal of the last message read."),
                .may("received", .count, "The ordinal of the last message received."),
                .may("unread", .count, "For the recipient's position: the number of unread messages."),
                .may("mentions", .count, "For the recipient's position: the number of unread messages that mention the recipient."),
                .may("n", .count, "For the recipient's position: the ordinal of the newest message that was counted."),
            ], recode: Recode(ReadMark.self)),
        Shape(
            "PresenceEntry", "The presence of one user.",
            [
                .must("user", .user, "The user."),
                .must("online", .bool, "Whether a device is connected."),
                .may(
                    "last_seen", .time,
                    "The end of the last connection, or the time of the last sign-in or renewal of a session if the server has restarted since then; absent if the user is online."
                ),
            ], recode: Recode(PresencePush.Entry.self)),
        Shape(
            "Reader", "A member who has received or read a message.",
            [
                .must("user", .user, "The member."),
                .may("read", .bool, "Whether the member has read the message."),
                .may("received", .bool, "Whether a device of the member has received the message."),
            ], recode: Recode(Reader.self)),
        Shape(
            "Reaction", "A reaction of one user.",
            [
                .must("user", .user, "The user."),
                .must("key", .words(ChatLimits.reactionLength), "The reaction."),
            ], recode: Recode(Reaction.self)),
        Shape(
            "ScheduledMessage", "A message that the server will send later.",
            [
                .must("id", .client, "The id of the request that scheduled the message."),
                .must("conv", .conversation, "The conversation."),
                .must("kind", .kind, "The kind of the message."),
                .must("body", .any, "The body."),
                .may("ref", .seq, "The `seq` of the message to which this message replies."),
                .may("thread", .seq, "The `seq` of the message that began the thread."),
                .may("silent", .bool, "Whether to send without notifying the recipients."),
                .must("send_at", .time, "The time."),
                .may(
                    "error", .choice(ChatError.Code.self),
                    "The reason for which the message could not be sent. Such a message remains until the user removes it."),
            ], recode: Recode(ScheduledMessage.self)),
        Shape(
            "DirectoryEntry", "A conversation that the directory lists.",
            [
                .must("conv", .conversation, "The conversation."),
                .must("kind", .choice(ConversationKind.self), "`group` or `channel`."),
                .must("title", .words(ChatLimits.titleLength), "The title."),
                .may("about", .words(ChatLimits.aboutLength), "The description."),
                .may("avatar", .blob, "The picture."),
                .must("members", .count, "The number of members."),
                .must("join", .choice(JoinRule.self), "The way in which users join."),
            ], recode: Recode(DirectoryEntry.self)),
        Shape(
            "InviteLink", "An invite link.",
            [
                .must("code", .link, "The secret part of the link."),
                .must("role", .choice(MemberRole.self), "The role of users who join."),
                .must("by", .user, "The user who created the link."),
                .must("at", .time, "The time of creation."),
                .may("expires_at", .time, "The time at which the link expires; absent if it does not."),
                .may("uses", .count, "The maximum number of joins by the link, and of requests to join by it; absent for no limit."),
                .must("used", .count, "The number of joins by the link, and of requests to join by it."),
                .may("approval", .bool, "Whether users who join by the link need approval."),
            ], recode: Recode(InviteLink.self)),
        Shape(
            "Folder", "A folder of conversations.",
            [
                .must("name", .words(ChatLimits.folderLength), "The name."),
                .may("filter", .words(20), "`unread`, `people`, `groups` or `channels`; absent for a folder that the user fills."),
            ], recode: Recode(Folder.self)),
        Shape(
            "UserSettings", "The settings of a user.",
            [
                .may("messages", .choice(Audience.self), "The users who may open a conversation with this user."),
                .may("last_seen", .choice(Audience.self), "The users who see this user's presence."),
                .may("avatar", .choice(Audience.self), "The users who see this user's picture."),
                .may(
                    "add", .choice(Audience.self),
                    "The users who can add this user to a group without an invitation."
                ),
                .may("find", .choice(Audience.self), "The users who find this user by a search."),
                .may("receipts", .bool, "Whether other users see this user's read positions, and this user sees theirs."),
                .may("typing", .bool, "Whether other users see that this user is writing."),
                .may("quiet_from", .integer(0...1_439), "The start of the quiet hours, in minutes after midnight UTC."),
                .may(
                    "quiet_until", .integer(0...1_439),
                    "The end of the quiet hours, in minutes after midnight UTC. Two equal values remove the quiet hours."),
                .may("folders", .list(.shape("Folder"), ChatLimits.folders), "The folders."),
            ], recode: Recode(UserSettings.self)),
        Shape(
            "Contact", "An entry of a user's list of contacts.",
            [
                .must("user", .shape("User"), "The other user."),
                .must("state", .choice(ContactState.self), "The relation."),
                .may("alias", .words(ChatLimits.nickLength), "The alias that the user gave the contact."),
                .may("text", .words(ChatLimits.contactTextLength), "The text of the request."),
                .must("at", .time, "The time of the last change."),
            ], recode: Recode(Contact.self)),
        Shape(
            "SearchHit", "A message that a search found.",
            [
                .must("event", .shape("Event"), "The message."),
                .must("snippet", .string(ChatLimits.previewLength), "The part of the text around the first word found."),
                .may("ranges", .list(.shape("TextRange"), 20), "The ranges of the found words in the snippet."),
            ], recode: Recode(SearchHit.self)),
        Shape(
            "CallServer", "A STUN or TURN server.",
            [
                .must("urls", .list(.words(500), 10), "The URLs (RFC 7064, RFC 7065)."),
                .may("username", .words(500), "The user name for a TURN server."),
                .may("credential", .words(500), "The password for a TURN server."),
            ], recode: Recode(CallServer.self)),
        Shape(
            "Device", "A device with a session.",
            [
                .must("device", .device, "The device."),
                .must("name", .words(ChatLimits.nickLength), "The name."),
                .must("platform", .words(20), "The platform."),
                .must("at", .time, "The time of the sign-in."),
                .must("last_seen", .time, "The time of the last sign-in or renewal of the session."),
                .may("address", .words(64), "The network address of the last sign-in or renewal of the session."),
                .may("current", .bool, "Whether it is the device that sent the request."),
            ], recode: Recode(ChatDevice.self)),
    ]
}
