public import ApusChatProtocol

/// How the connection stands.
public enum ChatConnectionState: Sendable, Hashable {
    /// No connection; it is being made.
    case connecting
    /// Connected and catching up.
    case synchronizing
    /// Connected, and everything known of is here or on its way.
    case online
    /// The server does not accept this session any more. Log in again.
    case signedOut(reason: String)
    /// ``ChatClient/close()`` was called.
    case closed
}

/// Something that happened, in the order in which it happened. What it tells is in the store already.
public enum ChatChange: Sendable, Hashable {
    /// The connection changed.
    case connection(ChatConnectionState)
    /// A conversation is new or has changed: its title, members, counters.
    case conversation(ChatConversationInfo)
    /// A message or change has its place in the log.
    case event(ChatMessage)
    /// A message of ours moved: queued, sent, refused, read.
    case outgoing(ChatMessage)
    /// Part of the history was left out, because too much was missed. ``ChatConversation/loadEarlier(limit:)`` fetches it.
    case gap(ConversationID, ClosedRange<Int64>)
    /// Somebody read up to a message.
    case mark(ChatMark)
    /// Somebody came or went.
    case presence(ChatUser)
    /// The local store failed. What could not be stored is fetched again later.
    case storeFailed(ChatClientError)

    /// The conversation it is about, if it is about one.
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
