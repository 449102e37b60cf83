package import ApusChatProtocol

/// Describes the wire of the chat: each verb, push, object, error and limit.
///
/// `docs/chat-wire.md` and `docs/openapi.json` are generated from it. Tests verify that the codecs
/// read and write exactly the described fields.
package enum ChatReference {
    /// The verbs in the order of the documentation.
    package static let groups: [VerbGroup] = [
        Self.logVerbs, Self.messageVerbs, Self.conversationVerbs, Self.memberVerbs, Self.peopleVerbs, Self.deviceVerbs,
    ]

    /// All verbs.
    package static var verbs: [Verb] { self.groups.flatMap(\.verbs) }

    /// All objects.
    package static var shapes: [Shape] { self.modelShapes + self.partShapes + self.syncShapes }

    /// The request and the answer of `sync`, which the request and the answer of `hello` contain.
    private static var syncShapes: [Shape] {
        guard let sync = self.logVerbs.verbs.first(where: { $0.name == ChatVerbs.sync.name }) else { return [] }
        return [
            Shape("SyncRequest", "See the verb `sync`.", sync.request, recode: sync.recodes.request),
            Shape("SyncAnswer", "See the verb `sync`.", sync.answer, recode: sync.recodes.answer),
        ]
    }

    /// All bodies, named by their kinds.
    package static var bodies: [Shape] { self.messageShapes + self.changeShapes }

    /// The verbs that have no HTTP route, because they apply to a connection.
    package static let liveVerbs: Set<String> = ["hello", "typing", "subscribe", "signal"]

    /// The fields of the answer to a request that adds a change to a log.
    static let changed: [Field] = [
        .must(
            "conv", .conversation, "The conversation whose log has the change; that of kind `self` for settings of the user and contacts."),
        .must("id", .client, "The client's id of the request."),
        .may("seq", .seq, "The `seq` of the event that the request added to the log; absent if it added none."),
        .must("at", .time, "The time of the change."),
    ]

    /// The meaning of each error code for the client.
    package static let errors: [(code: ChatError.Code, text: String)] = [
        (.badRequest, "A field is missing or invalid. `field` names it."),
        (.unauthorized, "The session has ended or does not exist. Sign in again."),
        (
            .forbidden,
            "The role or the settings do not permit the action, or the password or code that confirms it is wrong. `field` then names it."
        ),
        (.notFound, "The object does not exist, or the user may not know that it does."),
        (.conflict, "Another request has the same id, the name is taken, or the object is already in another state."),
        (.tooLarge, "A text, list or body exceeds a limit. `field` names it."),
        (.unsupported, "The server does not support the verb, the kind or a value. `field` names the value."),
        (.tooMany, "A rate limit is exceeded. `retry_after` is the time after which a retry can succeed."),
        (.limit, "A number of objects has reached its maximum. A retry does not help."),
        (.tooLate, "The time limit for the action has passed."),
        (.resync, "The token of a `sync` is too old, or belongs to another data epoch. Send the request without a token."),
        (.epoch, "The group of an encrypted conversation has an epoch other than `if_epoch`."),
        (.storage, "The server cannot write at present. The request had no effect."),
        (.unavailable, "The server is starting, stopping or overloaded."),
        (.internal, "The server failed."),
    ]

    /// The limits of ``ChatLimits``, in the order of the documentation.
    package static let limits: [(text: String, value: Int64, unit: String)] = [
        ("request", Int64(ChatLimits.requestBytes), "bytes"),
        ("answer, push", Int64(ChatLimits.answerBytes), "bytes"),
        ("pending requests of a connection", Int64(ChatLimits.pendingRequests), ""),
        ("text of a message, draft", Int64(ChatLimits.textLength), "scalars"),
        ("caption", Int64(ChatLimits.captionLength), "scalars"),
        ("entities of a text", Int64(ChatLimits.entities), ""),
        ("mentions of a message", Int64(ChatLimits.mentions), ""),
        ("body of an application's kind", Int64(ChatLimits.customBytes), "bytes"),
        ("arrays and objects inside of each other in such a body", Int64(ChatLimits.customLevels), ""),
        ("options of a poll", Int64(ChatLimits.pollOptions), ""),
        ("messages of a bundle and of a `forward`", Int64(ChatLimits.bundleMessages), ""),
        ("different reactions to a message", Int64(ChatLimits.reactions), ""),
        ("reactions of a user to a message", Int64(ChatLimits.ownReactions), ""),
        ("pinned messages of a conversation", Int64(ChatLimits.pinnedMessages), ""),
        ("scheduled messages of a user", Int64(ChatLimits.scheduledMessages), ""),
        ("conversations of a user", Int64(ChatLimits.conversations), ""),
        ("members of a group", Int64(ChatLimits.groupMembers), ""),
        ("members of a channel", Int64(ChatLimits.channelMembers), ""),
        ("members of a conversation with read positions", Int64(ChatLimits.receiptMembers), ""),
        ("users named by a request", Int64(ChatLimits.requestUsers), ""),
        ("invite links of a conversation", Int64(ChatLimits.links), ""),
        ("contacts, blocked users of a user", Int64(ChatLimits.contacts), ""),
        ("invitations of a user that wait for an answer", Int64(ChatLimits.openInvitations), ""),
        ("invitations and contact requests of a user", Int64(ChatLimits.invitationsPerDay), "a day"),
        ("devices of a user", Int64(ChatLimits.devices), ""),
        ("pinned conversations of a user", Int64(ChatLimits.pinnedConversations), ""),
        ("subscribed conversations of a connection", Int64(ChatLimits.subscriptions), ""),
        ("events of a page", Int64(ChatLimits.historyEvents), ""),
        ("heads of a page", Int64(ChatLimits.headsPage), ""),
        ("upload", ChatLimits.blobBytes, "bytes"),
        ("width, height of a picture", ChatLimits.imageSide, "pixels"),
        ("pixels of a picture", ChatLimits.imagePixels, ""),
        ("password", Int64(ChatLimits.longestPassword), "scalars"),
        ("time for which the answer to a changing request is kept", ChatLimits.answerSeconds, "s"),
    ]
}
