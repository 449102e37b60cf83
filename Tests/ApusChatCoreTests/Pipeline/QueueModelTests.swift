import ApusChatCore
import ApusChatStorage
import ApusSeededRandom
import Testing

/// The queues and the clock of the pipeline in random runs.
@Suite("Random runs of the pipeline")
struct QueueModelTests {
    private let world = World()

    @Test func theQueueKeepsItsBoundsAndItsOrder() {
        for seed in UInt64(1)...80 {
            var generator = SplitMix64(state: seed)
            let bounds = (underWay: Int.random(in: 1...3, using: &generator), ofUser: Int.random(in: 1...4, using: &generator), all: 10)
            var queue = FairQueue<Int>(bounds: .init(underWay: bounds.underWay, waitingOfUser: bounds.ofUser, waiting: bounds.all))
            var waiting: [UserKey: [Int]] = [:]
            var underWay: [UserKey: Int] = [:]
            for number in 0..<400 {
                let user = UserKey(Int64.random(in: 1...5, using: &generator))
                switch Int.random(in: 0..<20, using: &generator) {
                case 0..<10:
                    let admission = queue.enqueue(number, for: user)
                    let count = waiting.values.reduce(0) { $0 + $1.count }
                    let isFull = count >= bounds.all, isUserFull = waiting[user, default: []].count >= bounds.ofUser
                    #expect(admission == (isFull ? .full : isUserFull ? .userFull : .admitted))
                    if admission == .admitted { waiting[user, default: []].append(number) }
                case 10..<15:
                    let mayRun = waiting.contains { !$0.value.isEmpty && underWay[$0.key, default: 0] < bounds.underWay }
                    let next = queue.next()
                    #expect((next != nil) == mayRun)
                    guard let next else { break }
                    #expect(waiting[next.user]?.first == next.element, "the order of a user")
                    waiting[next.user]?.removeFirst()
                    underWay[next.user, default: 0] += 1
                    #expect(underWay[next.user, default: 0] <= bounds.underWay)
                case 15..<19:
                    queue.finished(user)
                    underWay[user] = max(0, underWay[user, default: 0] - 1)
                default:
                    let removed = queue.removeAll()
                    #expect(removed.sorted() == waiting.values.flatMap { $0 }.sorted())
                    for (_, elements) in waiting { #expect(removed.filter(elements.contains) == elements) }
                    waiting = [:]
                }
                let users = Set(waiting.filter { !$0.value.isEmpty }.keys).union(underWay.filter { $0.value > 0 }.keys)
                #expect(queue.userCount == users.count && queue.count == waiting.values.reduce(0) { $0 + $1.count })
            }
        }
    }

    /// Every command is in one batch, within the bounds, and after the earlier ones of its user: in
    /// its conversation, and before and after every command that is not a message.
    @Test func theSequencerLosesAndReordersNothing() {
        for seed in UInt64(1)...60 {
            var generator = SplitMix64(state: seed)
            var bounds = Sequencer.Bounds()
            bounds.commands = Int.random(in: 1...12, using: &generator)
            bounds.bytes = Int.random(in: 1...3_000, using: &generator)
            var sequencer = Sequencer(bounds: bounds)
            var commands: [Int64: Command] = [:]
            var taken: [Int64] = []
            var number: Int64 = 0
            for _ in 0..<200 {
                if Int.random(in: 0..<5, using: &generator) > 0 {
                    let user = UserKey(Int64.random(in: 1...3, using: &generator))
                    let key = ConversationKey(Int64.random(in: 1...3, using: &generator))
                    number += 1
                    let length = Int.random(in: 1...900, using: &generator)
                    let command =
                        Int.random(in: 0..<5, using: &generator) == 0
                        ? self.world.command(user, .leave(key, forgets: false))
                        : self.world.text(user, key, String(repeating: "x", count: length))
                    commands[number] = command
                    #expect(sequencer.enqueue(command, number: number) == nil)
                } else {
                    let batch = sequencer.takeBatch()
                    #expect(batch.count <= bounds.commands)
                    #expect(batch.count <= 1 || batch.reduce(0) { $0 + $1.command.byteCount } <= bounds.bytes)
                    taken += batch.map(\.number)
                    sequencer.decided(in: Int64.random(in: 0...100, using: &generator))
                }
                #expect(sequencer.count == commands.count - taken.count)
            }
            while sequencer.count > 0 {
                let batch = sequencer.takeBatch()
                #expect(!batch.isEmpty)
                taken += batch.map(\.number)
            }
            #expect(sequencer.takeBatch().isEmpty && taken.sorted() == Array(1...max(number, 1)).filter { $0 <= number })
            for (index, later) in taken.enumerated() {
                for earlier in taken[..<index] where earlier > later {
                    guard let one = commands[earlier], let other = commands[later], one.actor == other.actor else { continue }
                    let areMessages = one.isText && other.isText
                    #expect(areMessages && one.conversation != other.conversation, "\(earlier) before \(later)")
                }
            }
        }
    }

    // MARK: Time stamps

    /// A wall clock that steps, leaps and returns. A stamp is never further from the monotonic
    /// clock than the corrections that lasted, and only a lasting correction takes it back.
    @Test func stampsFollowLastingCorrectionsOnly() {
        for seed in UInt64(1)...120 {
            var generator = SplitMix64(state: seed)
            let start: Int64 = 1_700_000_000_000
            var clock = StampClock(wall: start, monotonic: 0)
            var monotonic: Int64 = 0
            var error: Int64 = 0
            var since: Int64 = 0
            var last = start
            for _ in 0..<300 {
                monotonic += Int64.random(in: 0...2_500, using: &generator)
                if Int.random(in: 0..<25, using: &generator) == 0 {
                    let errors: [Int64] = [0, 400, 3_600_000, -3_600_000, 30 * 86_400_000, -30 * 86_400_000, .max / 2]
                    let former = error
                    error = errors.randomElement(using: &generator) ?? 0
                    if abs(error - former) > StampClock.tolerance { since = monotonic }
                }
                let reading = clock.read(wall: start + monotonic + error, monotonic: monotonic)
                if reading.time < last { #expect(reading.isTrusted && monotonic - since >= StampClock.confirmation, "seed \(seed)") }
                #expect(abs(reading.time - start - monotonic) <= StampClock.maximumJump + 12_000, "seed \(seed)")
                // A trusted stamp is that of the wall clock, or an earlier one that was above it.
                if reading.isTrusted { #expect(reading.time - (start + monotonic + error) <= StampClock.tolerance, "seed \(seed)") }
                last = reading.time
            }
        }
    }

    @Test func extremeReadingsDoNotTrap() {
        var generator = SplitMix64(state: 5)
        let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max, 1_700_000_000_000]
        for _ in 0..<2_000 {
            func any() -> Int64 { extremes.randomElement(using: &generator) ?? 0 }
            var clock = StampClock(wall: any(), monotonic: any(), mark: Bool.random(using: &generator) ? any() : nil)
            for _ in 0..<6 {
                let reading = clock.read(wall: any(), monotonic: any())
                #expect(reading.isTrusted == clock.isTrusted && !(clock.hasLeapt && reading.isTrusted))
            }
        }
    }
}

extension Command {
    fileprivate var isText: Bool {
        if case .send = self.action { true } else { false }
    }
}
