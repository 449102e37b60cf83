public import ApusChatProtocol
import ApusEventLoop

/// The state of the connection.
public enum ChatConnectionState: Hashable, Sendable {
    /// There is no connection; the client is connecting.
    case connecting
    /// There is a connection; the client requests the heads that it missed.
    case syncing
    /// There is a connection, and the heads are current. Missed events may still be requested.
    case online
    /// The session has ended. The user has to sign in again.
    case signedOut(ChatError)
    /// The client was closed.
    case closed
}

/// A change of the data or of the connection. Updates are delivered in order, after they are
/// stored.
public enum ChatUpdate: Sendable, Hashable {
    /// The state of the connection changed.
    case connection(ChatConnectionState)
    /// Conversations are new or changed.
    case heads([ChatHead])
    /// The user no longer has these conversations, for example because they were deleted.
    case gone([ConversationID])
    /// Messages of a conversation are new or changed, in the order of the log.
    case messages(ConversationID, [ChatMessage])
    /// The events of this range were not loaded, because too many were missed. They are requested
    /// when the range is shown.
    case gap(ConversationID, ClosedRange<Int64>)
    /// An unsent message is new or its state changed.
    case outgoing(ChatMessage)
    /// An unsent message was discarded, is queued again under another id, or is in an earlier part
    /// of the log that was loaded.
    case discarded(ConversationID, ClientID)
    /// Other members have received or read more messages: the delivery state of messages of the
    /// user changed.
    case receipts(ConversationID)
    /// A member is writing, or has stopped.
    case typing(ConversationID, UserName, isTyping: Bool)
    /// Profiles or presences of users changed.
    case users([ChatUser])
    /// A contact or a contact request changed; the kind indicates how. Changes while the client was
    /// disconnected are not reported: call ``ChatClient/contacts(_:after:)`` after a reconnection.
    case contact(EventKind, ContactBody)
    /// A device of the user was added or removed; the kind indicates which. `device.add` is a new
    /// sign-in, which an application should show to the user. Changes while the client was
    /// disconnected are not reported: call ``ChatClient/devices()`` after a reconnection.
    case device(EventKind, DeviceBody)
    /// The cached data was discarded, because the server's data was replaced. The application must
    /// read all data again.
    case reset
    /// Updates were dropped, because the reader was slower than its policy of
    /// ``ChatClient/updates(bufferingPolicy:)`` allows. The application must read the shown data
    /// again; the store is complete.
    case missed
    /// The local store could not be written. The client reconnects and requests the events that
    /// could not be stored again.
    case storeFailed(ChatClientError)

    /// The conversation that the update concerns; nil if the update does not concern exactly one.
    public var conversation: ConversationID? {
        switch self {
        case .messages(let id, _), .gap(let id, _), .discarded(let id, _), .receipts(let id), .typing(let id, _, _): id
        case .outgoing(let message): message.conversation
        case .connection, .heads, .gone, .users, .contact, .device, .reset, .missed, .storeFailed: nil
        }
    }
}
