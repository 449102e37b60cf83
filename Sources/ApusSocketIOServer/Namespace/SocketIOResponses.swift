/// The answers to one request, as far as they came in time.
///
/// Who only wants what there is iterates over it; ``isComplete`` says whether anything is missing.
public struct SocketIOResponses<Answer: Sendable>: Sendable, RandomAccessCollection {
    private let answers: [Answer]
    /// How many answers were to come, as far as is known: a server that is silent never said how many it has.
    public let expectedCount: Int
    /// The servers of the cluster that did not answer.
    public let silentServers: Int

    init(_ answers: [Answer], expectedCount: Int, silentServers: Int) {
        self.answers = answers
        self.expectedCount = expectedCount
        self.silentServers = silentServers
    }

    /// Whether every server and every client that was asked has answered.
    public var isComplete: Bool { self.silentServers == 0 && self.answers.count >= self.expectedCount }

    /// The position of the first answer.
    public var startIndex: Int { self.answers.startIndex }
    /// The position after the last answer.
    public var endIndex: Int { self.answers.endIndex }
    /// One answer, in the order of their coming.
    public subscript(position: Int) -> Answer { self.answers[position] }

    func map<Other>(as other: (Answer) throws -> Other) rethrows -> SocketIOResponses<Other> {
        SocketIOResponses<Other>(try self.answers.map(other), expectedCount: self.expectedCount, silentServers: self.silentServers)
    }
}

extension SocketIOResponses: Equatable where Answer: Equatable {}
