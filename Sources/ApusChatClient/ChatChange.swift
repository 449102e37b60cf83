public import ApusChatProtocol

/// The state of the client's connection.
public enum ChatConnectionState: Sendable, Hashable {
    /// Not connected; the client is connecting.
    case connecting
    /// Connected; the client requests the missed changes.
    case synchronizing
    /// Connected, and the client has the current heads. Missing events may still be pending.
    case online
    /// The server rejected the session. Log in again.
    case signedOut(reason: String)
    /// ``ChatClient/close()`` was called.
    case closed
}

/// A change in the chat. Changes are reported in order, after they are stored.
public enum ChatChange: Sendable, Hashable {
    /// The state of the connection changed.
    case connection(ChatConnectionState)
    /// A conversation is new, or its title, members or counters changed.
    case conversation(ChatConversationInfo)
    /// An event was added to the log.
    case event(ChatMessage)
    /// The delivery state of an outgoing message changed.
    case outgoing(ChatMessage)
    /// Part of the history was skipped because too many events were missed.
    /// ``ChatConversation/loadEarlier(limit:)`` fetches it.
    case gap(ConversationID, ClosedRange<Int64>)
    /// A member's read position changed.
    case mark(ChatMark)
    /// A user's presence changed.
    case presence(ChatUser)
    /// The local store failed. Events that could not be stored are fetched again later.
    case storeFailed(ChatClientError)

    /// The conversation that the change belongs to, if any.
    public var conversation: ConversationID? {
        switch self {
        case .conversation(let info): info.id
        case .event(let message), .outgoing(let message): message.conversation
        case .gap(let conversation, _): conversation
        case .mark(let mark): mark.conv
        case .connection, .presence, .storeFailed: nil
        }
    }
}
