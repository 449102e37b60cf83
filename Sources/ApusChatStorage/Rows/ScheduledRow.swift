package import ApusChatProtocol

/// A message that the server sends at a time.
package struct ScheduledRow: Sendable, Equatable {
    package var address: ScheduledAddress
    package var conversation: ConversationKey
    package var kind: EventKind
    /// The body as JSON text, as it was requested. It is validated again when it is sent.
    package var body: String
    /// The seq of the message that this one answers, or 0.
    package var ref: Int64 = 0
    /// The seq of the message whose thread this one belongs to, or 0.
    package var thread: Int64 = 0
    package var isSilent = false
    /// Milliseconds since 1970.
    package var sendAt: Int64
    /// The hash of the request, which the message keeps.
    package var hash: RequestHash
    /// The code of the refusal if it could not be sent, or empty. It is kept until its user removes
    /// it.
    package var failure = ""

    package init(
        address: ScheduledAddress, conversation: ConversationKey, kind: EventKind, body: String, sendAt: Int64, hash: RequestHash
    ) {
        self.address = address
        self.conversation = conversation
        self.kind = kind
        self.body = body
        self.sendAt = sendAt
        self.hash = hash
    }
}

/// The id that a user gave to a scheduled message.
package struct ScheduledAddress: Hashable, Sendable {
    package let user: UserKey
    package let id: ClientID
    package init(_ user: UserKey, _ id: ClientID) {
        self.user = user
        self.id = id
    }
}
