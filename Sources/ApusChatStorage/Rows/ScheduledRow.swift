package import ApusChatProtocol

/// A message that the server sends at a later time.
package struct ScheduledRow: Sendable, Equatable {
    package var address: ScheduledAddress
    package var conversation: ConversationKey
    package var kind: EventKind
    /// The requested body as JSON text. It is validated again when the message is sent.
    package var body: String
    /// The `seq` of the message to which this message replies; 0 if it is not a reply.
    package var ref: Int64 = 0
    /// The `seq` of the message that began the thread; 0 outside of threads.
    package var thread: Int64 = 0
    package var isSilent = false
    /// The time at which the message is sent, in milliseconds since 1970.
    package var sendAt: Int64
    /// The hash of the request. It is stored with the message when the message is sent.
    package var hash: RequestHash
    /// The code of the error with which the message was refused; empty if the message was not
    /// refused. The row of a refused message remains until the user removes it.
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

/// Identifies a scheduled message by its user and the id that the client chose.
package struct ScheduledAddress: Hashable, Sendable {
    package let user: UserKey
    package let id: ClientID
    package init(_ user: UserKey, _ id: ClientID) {
        self.user = user
        self.id = id
    }
}
