import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import NIOConcurrencyHelpers
import NIOEmbedded
import Testing

@testable import ApusChatService

@Suite struct AnswersTests {
    private let stored = StoredAnswer(conversation: ConversationKey(1), seq: 1, n: 1, at: 1)

    /// One task on each event loop delivers the answers of a batch, in order.
    @Test func eachLoopGetsItsAnswersTogether() throws {
        let loops = [EmbeddedEventLoop(), EmbeddedEventLoop()]
        let given = NIOLockedValueBox<[String]>([])
        var answers = Answers()
        for (number, loop) in [loops[0], loops[1], loops[0]].enumerated() {
            let recipient = Answers.Recipient(eventLoop: loop) { _ in given.withLockedValue { $0.append("loop \(number)") } }
            answers.add(.success(self.stored), for: recipient)
        }
        answers.add(.success(self.stored), for: Answers.Recipient(eventLoop: nil) { _ in given.withLockedValue { $0.append("here") } })
        #expect(given.withLockedValue { $0 }.isEmpty)
        answers.give()
        #expect(given.withLockedValue { $0 } == ["here"])
        loops[0].run()
        #expect(given.withLockedValue { $0 } == ["here", "loop 0", "loop 2"])
        loops[1].run()
        answers.give()
        for loop in loops { loop.run() }
        #expect(given.withLockedValue { $0 } == ["here", "loop 0", "loop 2", "loop 1"])
    }
}
