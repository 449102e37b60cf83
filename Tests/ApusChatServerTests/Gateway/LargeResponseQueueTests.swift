import ApusChatProtocol
import ApusEngineIOServer
import ApusSocketIOServer
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatServer

@Suite("What one socket may ask for at a time")
struct ChatLaneTests {
    /// A client that reads when the test calls ``reads()``.
    private final class Client: Sendable {
        private let waiting = NIOLockedValueBox<[@Sendable () -> Void]>([])
        var count: Int { self.waiting.withLockedValue { $0.count } }
        func whenDrained(_ body: @escaping @Sendable () -> Void) { self.waiting.withLockedValue { $0.append(body) } }
        func reads() {
            let bodies = self.waiting.withLockedValue { waiting in
                defer { waiting = [] }
                return waiting
            }
            for body in bodies { body() }
        }
    }

    @Test func theNextIsTakenWhenTheAnswerBeforeHasLeft() {
        let client = Client()
        let lane = LargeResponseQueue(whenDrained: client.whenDrained)
        let begun = NIOLockedValueBox<[Int]>([])
        func begunNow() -> [Int] { begun.withLockedValue { $0 } }
        for number in 1...3 { lane.submit { begun.withLockedValue { $0.append(number) } } }
        #expect(begunNow() == [1])
        lane.answered()
        #expect(begunNow() == [1] && client.count == 1)
        client.reads()
        #expect(begunNow() == [1, 2])
        lane.submit { begun.withLockedValue { $0.append(4) } }
        for expected in [[1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4]] {
            lane.answered()
            client.reads()
            #expect(begunNow() == expected)
        }
        lane.submit { begun.withLockedValue { $0.append(5) } }  // the queue is free, so the job runs immediately
        #expect(begunNow() == [1, 2, 3, 4, 5])
    }

    @Test func theChatsLimitsAreTight() throws {
        let plain = SocketIOServerConfiguration.chat(ChatServerConfiguration())
        try plain.engine.validate()
        #expect(plain.maximumAttachments == 0 && plain.connectTimeout == .seconds(10))
        #expect(
            plain.engine.maximumPayloadBytes == 128 << 10 && plain.engine.maximumQueuedBytes == 512 << 10
                && plain.engine.queueLowMark == 64 << 10)
        #expect(!plain.engine.keepsRequests && plain.maximumAuthBytes == 1_024)
        #expect(SocketIOServerConfiguration.chat(ChatServerConfiguration(demo: true)).maximumAttachments > 0)
        // One page and the same amount of pushes fit into the queue.
        #expect(plain.engine.maximumQueuedBytes >= 2 * ChatLimits.answerBytes)
    }
}
