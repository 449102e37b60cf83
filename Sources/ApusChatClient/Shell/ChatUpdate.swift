public import ApusChatProtocol

/// The state of the connection.
public enum ChatConnectionState: Hashable, Sendable {
    /// There is no connection; the client is connecting.
    case connecting
    /// Connected; the client requests what it missed.
    case syncing
    /// Connected, with the current heads. Missing events may still be on their way.
    case online
    /// The session has ended. Sign in again.
    case signedOut(ChatError)
    /// The client was closed.
    case closed
}

/// What changed. Updates are delivered in order, after they are stored.
public enum ChatUpdate: Sendable, Hashable {
    /// The connection has another state.
    case connection(ChatConnectionState)
    /// Conversations are new or changed.
    case heads([ChatHead])
    /// The user no longer has these conversations.
    case gone([ConversationID])
    /// Rows of a thread are new or changed, in the order of the log.
    case messages(ConversationID, [ChatMessage])
    /// Events of a thread are missing before the next ones: too many were missed.
    case gap(ConversationID, ClosedRange<Int64>)
    /// An unsent message is new or has another state.
    case outgoing(ChatMessage)
    /// An unsent message was discarded, or is queued again under another id.
    case discarded(ConversationID, ClientID)
    /// Other members have read or received more: the delivery of own messages changed.
    case receipts(ConversationID)
    /// A member is writing, or has stopped.
    case typing(ConversationID, UserName, isTyping: Bool)
    /// Profiles or presences changed.
    case users([ChatUser])
    /// A contact or a request changed in the way that the kind tells. Changes that were made while
    /// there was no connection are not told: read ``ChatClient/contacts(_:after:)`` then.
    case contact(EventKind, ContactBody)
    /// A device was added or removed in the way that the kind tells: `device.add` is a new sign-in,
    /// which an application shows to the user. Changes that were made while there was no connection
    /// are not told: read ``ChatClient/devices()`` then.
    case device(EventKind, DeviceBody)
    /// The cache was dropped, because the server's data is another. Read everything again.
    case reset
    /// The local store failed. The server repeats what could not be stored.
    case storeFailed(ChatClientError)

    /// The conversation that the update belongs to, if it is a single one.
    public var conversation: ConversationID? {
        switch self {
        case .messages(let id, _), .gap(let id, _), .discarded(let id, _), .receipts(let id), .typing(let id, _, _): id
        case .outgoing(let message): message.conversation
        case .connection, .heads, .gone, .users, .contact, .device, .reset, .storeFailed: nil
        }
    }
}
