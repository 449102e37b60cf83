import ApusChatProtocol
import ApusSeededRandom
import Testing

@testable import ApusChatCore

/// Read positions and unread numbers in random runs.
@Suite("Random runs of read positions")
struct ReadModelTests {
    /// A server with one log, whose answers and pushes arrive in any order.
    private struct Server {
        var last: Int64 = 0
        var read: Int64 = 0

        mutating func mark(_ n: Int64) -> MarkAnswer {
            self.read = max(self.read, min(n, self.last))
            return MarkAnswer(conversation: Client.room, read: self.read, unread: 0, mentions: 0, n: self.last)
        }
    }

    @Test func aPositionIsNeverBelowTheConfirmedOne() {
        for seed in UInt64(1)...300 {
            var generator = SplitMix64(state: seed)
            var reads = ReadPositions()
            var server = Server()
            var answers: [MarkAnswer] = []
            var pushes: [Int64] = []
            var isConnected = false
            func handle(_ requests: [MarkRequest]) {
                for request in requests {
                    #expect(isConnected && answers.isEmpty, "one request at a time")
                    answers.append(server.mark(request.read ?? 0))
                }
            }
            for _ in 0..<120 {
                let confirmed = reads.confirmed(in: Client.room)
                switch Int.random(in: 0..<8, using: &generator) {
                case 0:
                    isConnected = false
                    reads.disconnected()
                    (answers, pushes) = ([], [])
                case 1 where !isConnected:
                    isConnected = true
                    reads.confirmed(server.read, in: Client.room)  // the head of the sync
                    handle(reads.connected())
                case 2, 3: server.last += Int64.random(in: 0...5, using: &generator)
                case 4:
                    // Another device reads; its push can overtake an answer.
                    if isConnected { pushes.append(server.mark(Int64.random(in: 0...server.last, using: &generator)).read ?? 0) }
                case 5 where !pushes.isEmpty: reads.confirmed(pushes.removeFirst(), in: Client.room)
                case 6 where !answers.isEmpty: handle(reads.answered(answers.removeFirst()).map { [$0] } ?? [])
                default:
                    // A position above the log, as a head that arrived early gives.
                    let n = Int64.random(in: 0...server.last + 2, using: &generator)
                    handle(reads.read(n, in: Client.room).map { [$0] } ?? [])
                }
                #expect(reads.confirmed(in: Client.room) >= confirmed)
                #expect(reads.position(in: Client.room) >= reads.confirmed(in: Client.room), "seed \(seed)")
            }
            // At rest, the server has the position.
            if !isConnected {
                isConnected = true
                reads.confirmed(server.read, in: Client.room)
                handle(reads.connected())
            }
            while !answers.isEmpty { handle(reads.answered(answers.removeFirst()).map { [$0] } ?? []) }
            for push in pushes { reads.confirmed(push, in: Client.room) }
            #expect(reads.position(in: Client.room) == server.read, "seed \(seed)")
        }
    }

    /// A push of another device overtakes the answer to a request above the end of the log.
    @Test func aLateAnswerDoesNotRevertAnotherDevice() {
        var reads = ReadPositions()
        _ = reads.connected()
        #expect(reads.read(50, in: Client.room)?.read == 50)
        reads.confirmed(45, in: Client.room)
        #expect(reads.answered(MarkAnswer(conversation: Client.room, read: 40, unread: 0, mentions: 0, n: 40)) == nil)
        #expect(reads.position(in: Client.room) == 45 && reads.confirmed(in: Client.room) == 45)
    }

    /// The number of unread messages, compared with a count of the messages themselves, while the
    /// server's reports and the own positions cross.
    @Test func unreadMessagesMatchTheLog() {
        for seed in UInt64(1)...300 {
            var generator = SplitMix64(state: seed)
            var counter = UnreadCounter(n: 0, read: 0, unread: 0)
            // Whether each message counts.
            var log: [Bool] = []
            var read: Int64 = 0
            func unread(above low: Int64, through high: Int64) -> Int64 {
                low < high ? Int64(log[Int(low)..<Int(high)].count { $0 }) : 0
            }
            for _ in 0..<80 {
                let last = Int64(log.count)
                switch Int.random(in: 0..<6, using: &generator) {
                case 0, 1, 2:
                    let counts = Int.random(in: 0..<3, using: &generator) > 0
                    log.append(counts)
                    if !counts { counter.skip(Int64(log.count)) }
                case 3: read = Int64.random(in: read...last, using: &generator)
                case 4:
                    // The server reports after it has the position.
                    counter.told(n: last, read: read, unread: unread(above: read, through: last))
                default:
                    // A report that was overtaken.
                    let n = Int64.random(in: 0...last, using: &generator)
                    let position = Int64.random(in: 0...min(n, read), using: &generator)
                    counter.told(n: n, read: position, unread: unread(above: position, through: n))
                }
                let end = Int64(log.count)
                #expect(counter.count(read: read, last: end) == unread(above: read, through: end), "seed \(seed)")
            }
        }
    }
}
