/// The reason why the wait for acks or responses ended.
public enum SocketIOResponsesEnd: Sendable, Hashable {
    /// All expected acks or responses have arrived.
    case answered
    /// The timeout elapsed before the last ack or response.
    case timedOut
    /// The missing acks or responses cannot arrive, because clients disconnected, the event could
    /// not be sent to a client, or servers left the cluster.
    case disconnected
}

/// The acks of a broadcast, or the responses of other servers, that arrived before the timeout.
///
/// The elements are the acks or responses that arrived. ``isComplete`` is `false` if any is
/// missing; ``end`` is the reason.
public struct SocketIOResponses<Answer: Sendable>: Sendable, RandomAccessCollection {
    private let answers: [Answer]
    /// The number of expected acks or responses, as far as it is known: a server that does not
    /// respond does not report its number of clients.
    public let expectedCount: Int
    /// The number of servers of the cluster that did not respond.
    public let silentServers: Int

    private let hasTimedOut: Bool

    init(_ answers: [Answer], expectedCount: Int, silentServers: Int, hasTimedOut: Bool) {
        self.answers = answers
        self.expectedCount = expectedCount
        self.silentServers = silentServers
        self.hasTimedOut = hasTimedOut
    }

    /// Whether all expected acks or responses have arrived.
    public var isComplete: Bool { self.silentServers == 0 && self.answers.count >= self.expectedCount }

    /// The reason why the wait ended.
    public var end: SocketIOResponsesEnd { self.isComplete ? .answered : self.hasTimedOut ? .timedOut : .disconnected }

    /// The position of the first element.
    public var startIndex: Int { self.answers.startIndex }
    /// The position after the last element.
    public var endIndex: Int { self.answers.endIndex }
    /// Returns one ack or response. The elements are in the order of arrival.
    public subscript(position: Int) -> Answer { self.answers[position] }

    func map<Other>(as other: (Answer) throws -> Other) rethrows -> SocketIOResponses<Other> {
        SocketIOResponses<Other>(
            try self.answers.map(other), expectedCount: self.expectedCount, silentServers: self.silentServers,
            hasTimedOut: self.hasTimedOut)
    }
}

extension SocketIOResponses: Equatable where Answer: Equatable {}
