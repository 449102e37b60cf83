package import ApusChatProtocol

/// An action for the shell of a client. The shell performs a list in order.
package enum ClientAction: Equatable, Sendable {
    case request(ClientRequest)
    case store(StoreChange)
    /// Call ``ClientCore/timerFired(_:)`` after this time. All timers end with the connection.
    case startTimer(ClientTimer, Duration)
    /// The session has ended. The shell must not connect again with this session.
    case endSession(ChatError)
}

/// A request of the core. The shell passes the answer to the overload of `ClientCore.answered` for
/// the request, or the error to the overload of `ClientCore.failed`.
package enum ClientRequest: Equatable, Sendable {
    case hello(since: PageToken?, epoch: PageToken?)
    case sync(SyncRequest)
    case history(HistoryRequest)
    /// Send the stored message with this id.
    case send(ClientID, in: ConversationID)
    case mark(MarkRequest)
}

/// A change of the client's store. The shell writes all changes of one list in one transaction.
package enum StoreChange: Equatable, Sendable {
    /// Add events. Apply each change among them to the event that it refers to and to the events
    /// with the same `ref` (`ChatEvent.applying`).
    ///
    /// The events contain the changes up to `asOf` or, if `asOf` is nil, up to the last event of
    /// the list. The store keeps this position with each event. It applies a change only to events
    /// with a lower position, and then raises the position. It does not replace a stored event with
    /// an event of a lower position.
    case events([ChatEvent], asOf: Int64? = nil)
    /// Record that events are missing between the stored history and the next `events`.
    case gap(ConversationID, ClosedRange<Int64>)
    indirect case head(ChatHead)
    /// Remove the conversation with its events, unsent and acknowledged messages.
    case gone(ConversationID)
    /// Store the token of the last complete sync.
    case token(PageToken)
    case epoch(PageToken)
    /// Make the acknowledged messages that the stored log does not contain unsent again, and the
    /// stored drafts that the server has confirmed. The server's data was replaced, and may lack
    /// them.
    case requeue
    /// Remove all heads and events. Unsent and acknowledged messages remain.
    case dropCache
    /// Mark an unsent message as acknowledged. Keep it until the stored log contains it.
    case sent(ClientID, SendAnswer)
    /// Mark an unsent message as refused. The user can send it again or discard it.
    case refused(ClientID, ChatError)
    /// Store the user's read position.
    case read(ConversationID, n: Int64, isConfirmed: Bool)
    /// Store the read position of another member.
    indirect case peerRead(ReadMark)
    /// Remove the content of the events that have expired (`ChatEvent.expired`).
    case expire(at: Int64)
}

/// A delay of the core.
package enum ClientTimer: Hashable, Sendable {
    case hole(ConversationID)
    case outbox(ConversationID)
    case sync
    case hello
}
