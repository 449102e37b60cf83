/// The answers to one request that arrived in time.
///
/// Iterate over it for the available answers. ``isComplete`` reports whether any answer is missing.
public struct SocketIOResponses<Answer: Sendable>: Sendable, RandomAccessCollection {
    private let answers: [Answer]
    /// The number of expected answers, as far as it is known: a silent server does not report its
    /// number of clients.
    public let expectedCount: Int
    /// The number of servers of the cluster that did not answer.
    public let silentServers: Int

    init(_ answers: [Answer], expectedCount: Int, silentServers: Int) {
        self.answers = answers
        self.expectedCount = expectedCount
        self.silentServers = silentServers
    }

    /// Whether every server and every client has answered.
    public var isComplete: Bool { self.silentServers == 0 && self.answers.count >= self.expectedCount }

    /// The position of the first answer.
    public var startIndex: Int { self.answers.startIndex }
    /// The position after the last answer.
    public var endIndex: Int { self.answers.endIndex }
    /// Returns one answer. The order is that of arrival.
    public subscript(position: Int) -> Answer { self.answers[position] }

    func map<Other>(as other: (Answer) throws -> Other) rethrows -> SocketIOResponses<Other> {
        SocketIOResponses<Other>(try self.answers.map(other), expectedCount: self.expectedCount, silentServers: self.silentServers)
    }
}

extension SocketIOResponses: Equatable where Answer: Equatable {}
