package import ApusChatProtocol

/// What the shell of a client does, in the order of the list.
package enum ClientAction: Equatable, Sendable {
    case request(ClientRequest)
    case store(StoreChange)
    /// Call ``ClientCore/timerFired(_:)`` after this time. Timers end with the connection.
    case startTimer(ClientTimer, Duration)
    /// The session has ended; no further connection is possible with it.
    case endSession(ChatError)
}

/// A request of the core. Its answer or failure goes to the method of the same name.
package enum ClientRequest: Equatable, Sendable {
    case hello(since: PageToken?, epoch: PageToken?)
    case sync(SyncRequest)
    case history(HistoryRequest)
    /// Send the stored message with this id.
    case send(ClientID, in: ConversationID)
    case mark(MarkRequest)
}

/// A change of the client's store. The shell writes all of one list in one transaction.
package enum StoreChange: Equatable, Sendable {
    /// Add events, and apply each change among them to the event that it refers to and to the
    /// events with the same `ref` (`ChatEvent.applying`).
    ///
    /// The events contain the changes up to `asOf`, or, if it is nil, up to the last of them. The
    /// store keeps this number with each event: a change applies to events with a lower number only
    /// and raises it, and an event with a lower number does not replace a stored one.
    case events([ChatEvent], asOf: Int64? = nil)
    /// Events between the stored history and the next `events` are missing.
    case gap(ConversationID, ClosedRange<Int64>)
    case head(ChatHead)
    /// Remove the conversation with its events and unsent messages.
    case gone(ConversationID)
    /// The token of the last complete sync.
    case token(PageToken)
    case epoch(PageToken)
    /// Remove all heads and events. Unsent messages stay.
    case dropCache
    /// Remove a message from the outbox: the log has it.
    case sent(ClientID, SendAnswer)
    /// Show a message as refused, with a retry and a discard.
    case refused(ClientID, ChatError)
    /// The user's own read position.
    case read(ConversationID, n: Int64, isConfirmed: Bool)
    /// The read position of another member.
    case peerRead(ReadMark)
    /// Remove the content of the events whose time is over (`ChatEvent.expired`).
    case expire(at: Int64)
}

/// A delay of the core.
package enum ClientTimer: Hashable, Sendable {
    case hole(ConversationID)
    case outbox(ConversationID)
    case sync
    case hello
}
