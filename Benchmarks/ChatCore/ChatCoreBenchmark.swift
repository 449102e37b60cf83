import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

/// Measures decisions and commits in memory: `sends` of 100 pairs in batches of 256.
///
/// `APUS_BENCHMARKS=1 APUS_ONLY=ChatCoreBenchmark swift build -c release`, then run it. Prints the
/// time of each step per message.
@main
enum ChatCoreBenchmark {
    static let pairs: Int64 = 100
    static let batches = 2_000
    static let batchSize = 256

    static func main() throws {
        let storage = MemoryStorage()
        try self.fill(storage)
        let body = "{\"text\":\"A message of a usual length, which is about sixty bytes.\"}"
        let clock = ContinuousClock()
        var times = [Duration](repeating: .zero, count: 5)
        var router = PushRouter()
        for user in 1...Self.pairs * 2 {
            if router.connected(SocketKey(user), user: UserKey(user)) {
                router.loaded([ConversationKey((user + 1) / 2)], of: UserKey(user))
            }
        }
        var number: Int64 = 0
        var deliveries = 0
        for batch in 0..<Self.batches {
            var sequencer = Sequencer()
            var start = clock.now
            for _ in 0..<Self.batchSize {
                number += 1
                let sender = number % (Self.pairs * 2) + 1
                let content = MessageContent(kind: .text, body: body)
                guard let id = ClientID("0190d5b4-7c3e-7a51-9d2e-\(number)") else { continue }
                let command = Command(
                    actor: UserKey(sender), device: DeviceKey(1),
                    request: RequestIdentity(id: id, hash: RequestHash(UInt64(number), 1, 2, 3)),
                    action: .send(SendCommand(conversation: ConversationKey((sender + 1) / 2), content: .success(content))))
                _ = sequencer.enqueue(command, number: number)
            }
            let entries = sequencer.takeBatch()
            self.lap(&times[0], &start, clock)
            var needs = Needs()
            for entry in entries { entry.command.addNeeds(to: &needs) }
            let facts = try storage.begin(needs)
            self.lap(&times[1], &start, clock)
            var decider = BatchDecider(facts: facts, at: 1_700_000_000_000 + Int64(batch))
            for entry in entries {
                guard case .accepted = decider.decide(entry.command) else { fatalError("A message was refused.") }
            }
            let decided = decider.finish()
            self.lap(&times[2], &start, clock)
            _ = try storage.commit(decided.changes)
            self.lap(&times[3], &start, clock)
            deliveries += router.route(decided).count
            self.lap(&times[4], &start, clock)
        }
        let count = Self.batches * Self.batchSize
        for (name, time) in zip(["make and sequence", "begin", "decide", "commit", "route"], times) {
            let nanoseconds = (time / count).components.attoseconds / 1_000_000_000
            print("\(name): \(nanoseconds) ns a message")
        }
        print("\(count) messages, \(deliveries) deliveries")
    }

    private static func lap(_ time: inout Duration, _ start: inout ContinuousClock.Instant, _ clock: ContinuousClock) {
        let now = clock.now
        time += now - start
        start = now
    }

    private static func fill(_ storage: MemoryStorage) throws {
        var changes = Changes()
        for pair in 1...Self.pairs {
            let key = ConversationKey(pair)
            let users = [UserKey(2 * pair - 1), UserKey(2 * pair)]
            let row = ConversationRow(
                key: key, kind: .pair, pair: PairAddress(users[0], users[1]), createdAt: 0, settings: ConversationSettings())
            changes.conversations.append(ConversationChange(key: key, counters: row.counters, row: row, isNew: true))
            changes.members += users.map { MemberRow(address: MemberAddress(key, $0), role: .member, state: .joined) }
        }
        _ = try storage.begin(Needs())
        _ = try storage.commit(changes)
    }
}
