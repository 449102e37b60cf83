import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatClient

/// The votes of a poll, which the client reads from the log after the poll.
@Suite("Votes of a poll")
struct PollVoteTests {
    private let server = FakeServer()
    private let device: TestDevice
    private let pair: ConversationID

    init() throws { (self.device, self.pair) = try self.server.pair() }

    private func vote(_ seq: Int64, _ user: String, _ options: JSONValue, of ref: Int64 = 3) -> ChatEvent {
        Value.change(.vote, seq, of: ref, by: Value.name(user), ["options": options], in: self.pair)
    }

    /// Returns the votes of the poll at position 3, and the requested ranges of the log.
    private func votes(_ pages: [[ChatEvent]]) async throws -> (votes: [PollVote], before: [JSONValue?]) {
        let client = try await self.device.signIn()
        try await client.isOnline()
        let last = pages.first?.last?.seq ?? 0
        let asked = self.server.count(of: "history")
        // `script` repeats the last answer.
        var answers = pages.map { HistoryAnswer(conversation: self.pair, events: $0, seq: last).json }
        let first = answers.removeFirst()
        switch answers.count {
        case 0: self.server.script("history", first)
        case 1: self.server.script("history", first, answers[0])
        default: self.server.script("history", first, answers[0], answers[1])
        }
        let votes = try await client.conversation(self.pair).votes(of: 3)
        await client.close()
        self.device.remove()
        return (votes, self.server.requests(of: "history").dropFirst(asked).map { $0["before"] })
    }

    @Test func theNewestVoteOfEachUserCounts() async throws {
        let page = [
            Value.text(3, in: self.pair), self.vote(4, "bob", [0]), self.vote(5, "alice", [0, 1]), self.vote(6, "bob", [1]),
            Value.text(7, in: self.pair), self.vote(8, "carol", [2], of: 2),
        ]
        let (votes, before) = try await self.votes([page])
        #expect(votes == [PollVote(user: Value.bob, options: [1]), PollVote(user: Value.alice, options: [0, 1])])
        #expect(before == [nil])
    }

    /// An empty vote withdraws the earlier ones of its user.
    @Test func aWithdrawnVoteIsNotListed() async throws {
        let page = [Value.text(3, in: self.pair), self.vote(4, "bob", [0]), self.vote(5, "bob", [])]
        #expect(try await self.votes([page]).votes.isEmpty)
    }

    @Test func earlierPagesAreReadUpToThePoll() async throws {
        let pages = [
            [self.vote(8, "bob", [1]), self.vote(9, "dave", [0])], [self.vote(5, "bob", [0]), self.vote(6, "alice", [2])],
            [Value.text(2, in: self.pair), Value.text(3, in: self.pair), self.vote(4, "carol", [0])],
        ]
        let (votes, before) = try await self.votes(pages)
        #expect(votes.map(\.user.rawValue) == ["dave", "bob", "alice", "carol"])
        #expect(votes.map(\.options) == [[0], [1], [2], [0]])
        #expect(before == [nil, 8, 5])
    }

    /// A log that begins after the poll ends the search.
    @Test func anEmptyPageEndsTheSearch() async throws {
        let (votes, before) = try await self.votes([[self.vote(8, "bob", [1])], []])
        #expect(votes == [PollVote(user: Value.bob, options: [1])] && before == [nil, 8])
    }

    /// The client reads at most 25 pages.
    @Test func aLongLogIsReadInPart() async throws {
        let (votes, before) = try await self.votes([[self.vote(80_000, "bob", [1])]])
        #expect(votes.count == 1 && before.count == 25)
    }
}
