import ApusChatProtocol

extension ChatReference {
    /// The bodies of changes.
    static let changeShapes = [
        Shape(
            "edit", "The body of `edit`.",
            [
                .must("body", .any, "The new body of the message.")
            ], example: #"{"body": {"text": "See you at seven"}}"#, recode: Recode(EditBody.self)),
        Shape(
            "preview",
            """
            The body of `preview`. The server creates it some time after a `text` or its edit, and sets the field \
            `preview` of that text. It is not a message and causes no notification.
            """,
            [
                .may("preview", .shape("LinkPreview"), "The preview of the first link; absent if it was removed.")
            ], example: #"{"preview": {"url": "https://example.com/", "title": "Example"}}"#, recode: Recode(PreviewBody.self)),
        Shape(
            "react", "The body of `react`.",
            [
                .must("key", .words(ChatLimits.reactionLength), "The reaction."),
                .may("remove", .bool, "Whether the reaction is removed."),
            ], example: #"{"key": "👍", "remove": true}"#, recode: Recode(ReactBody.self)),
        Shape(
            "vote", "The body of `vote`.",
            [
                .may(
                    "options", .list(.count, ChatLimits.pollOptions),
                    "The indices of the options; empty for no vote and in an anonymous poll.")
            ], example: #"{"options": [1]}"#, recode: Recode(VoteBody.self)),
        Shape(
            "pin", "The body of `pin`.",
            [
                .may("remove", .bool, "Whether to unpin the message.")
            ], example: #"{}"#, recode: Recode(PinBody.self)),
        Shape(
            "call.update", "The body of `call.update`.",
            [
                .must("state", .choice(CallState.self), "The new state."),
                .may("duration", .time, "The time from acceptance to the end, in milliseconds."),
            ], example: #"{"state": "ended", "duration": 63000}"#, recode: Recode(CallUpdateBody.self)),
        Shape(
            "conversation.create", "The body of `conversation.create`.",
            [
                .must("kind", .choice(ConversationKind.self), "The kind."),
                .may("title", .words(ChatLimits.titleLength), "The title of a group or channel."),
            ], example: #"{"kind": "group", "title": "Rowing club"}"#, recode: Recode(ConversationCreateBody.self)),
        Shape(
            "conversation.set", "The body of `conversation.set`: the new values.",
            [
                .may("title", .words(ChatLimits.titleLength), "The title."),
                .may("avatar", .blobOrEmpty, "The picture; empty if it was removed."),
                .may("about", .string(ChatLimits.aboutLength), "The description; empty if it was removed."),
                .may("settings", .shape("SettingsChange"), "The settings that changed."),
            ], example: #"{"title": "Rowing club Kiel", "avatar": "", "settings": {"write": "admins"}}"#,
            recode: Recode(ConversationSetBody.self)),
        Shape(
            "member.*", "The body of the kinds that begin with `member.`.",
            [
                .may("users", .list(.user, ChatLimits.requestUsers), "The users; absent for `member.leave`, which concerns the sender."),
                .may("role", .choice(MemberRole.self), "The new role, for `member.role` and `member.join`."),
                .may(
                    "until", .time,
                    "The end of a ban or mute, in milliseconds since 1970. If it is absent, a ban has no end, and `member.mute` permits the members to write again."
                ),
                .may("via", .choice(JoinWay.self), "The way in which the users joined, for `member.join`."),
            ], example: #"{"users": ["bob"], "role": "admin"}"#, recode: Recode(MemberBody.self)),
        Shape(
            "self.pin, self.archive, self.mute, self.unread, self.folder",
            """
            The body of `self.pin`, `self.archive`, `self.mute`, `self.unread` and `self.folder`: the new value of \
            one of the user's settings for a conversation.
            """,
            [
                .must("conv", .conversation, "The conversation."),
                .may("pinned_at", .time, "The time at which the user pinned the conversation; 0 if it is no longer pinned."),
                .may("archived", .bool, "Whether the conversation is archived."),
                .may("muted_until", .time, "The time until which notifications are muted; 0 ends the mute."),
                .may("notify", .choice(NotificationRule.self), "The messages that cause notifications."),
                .may("marked_unread", .bool, "Whether the conversation is marked as unread."),
                .may(
                    "folders", .list(.words(ChatLimits.folderLength), ChatLimits.folders),
                    "The names of the folders that contain the conversation."),
            ], example: #"{"conv": "1q2w3e4r5t6y7", "pinned_at": 1790000000000}"#, recode: Recode(OwnSetBody.self)),
        Shape(
            "self.draft", "The body of `self.draft`. A newer draft of the same conversation removes its content.",
            [
                .must("conv", .conversation, "The conversation."),
                .may("draft", .shape("DraftText"), "The draft; absent if it was removed."),
            ], example: #"{"conv": "1q2w3e4r5t6y7", "draft": {"text": "I will", "ref": 17}}"#, recode: Recode(DraftBody.self)),
        Shape(
            "self.set", "The body of `self.set`: the user's profile or settings changed, and must be requested again.",
            [
                .must("users", .list(.user, 1), "The user whose profile or settings changed.")
            ], example: #"{"users": ["alice"]}"#, recode: Recode(OwnUserBody.self)),
        Shape(
            "self.hide", "The body of `self.hide`.",
            [
                .must("conv", .conversation, "The conversation."),
                .must("seqs", .list(.seq, 100), "The hidden events."),
            ], example: #"{"conv": "1q2w3e4r5t6y7", "seqs": [16, 17]}"#, recode: Recode(HideBody.self)),
        Shape(
            "contact.*", "The body of the kinds that begin with `contact.`.",
            [
                .must("user", .user, "The other user."),
                .may("incoming", .bool, "Whether the other user caused the change."),
                .may("alias", .string(ChatLimits.nickLength), "The alias of the contact; empty if it was removed."),
                .may("text", .words(ChatLimits.contactTextLength), "The text of a request."),
            ], example: #"{"user": "bob", "incoming": true, "text": "We met at the regatta"}"#, recode: Recode(ContactBody.self)),
        Shape(
            "device.add, device.remove", "The body of `device.add` and `device.remove`.",
            [
                .must("device", .device, "The device."),
                .must("name", .words(ChatLimits.nickLength), "The name."),
                .must("platform", .words(20), "The platform."),
            ], example: #"{"device": "2d3e4v5c6e7a8", "name": "Firefox on Linux", "platform": "web"}"#, recode: Recode(DeviceBody.self)),
    ]
}
