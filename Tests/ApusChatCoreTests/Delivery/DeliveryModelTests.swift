import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusSeededRandom
import Testing

/// The machines of the delivery in random runs, with timers that fire on time or late.
@Suite("Random runs of the delivery")
struct DeliveryModelTests {
    /// The visible presence: online while a device is connected, and for the grace period after
    /// that.
    @Test func presenceMatchesTheConnections() {
        for seed in UInt64(1)...100 {
            var generator = SplitMix64(state: seed)
            var presence = PresenceMachine()
            var connections: [UserKey: Int] = [:]
            var left: [UserKey: Int64] = [:]
            var shown: Set<UserKey> = []
            var timer: Int64?
            var time: Int64 = 0
            func handle(_ actions: [PresenceMachine.Action]) {
                for action in actions {
                    switch action {
                    case .announce(let user, let isOnline):
                        // Each announcement changes the known state.
                        #expect(shown.contains(user) != isOnline, "seed \(seed)")
                        if isOnline { shown.insert(user) } else { shown.remove(user) }
                    case .schedule(let after):
                        #expect(timer == nil, "one timer")
                        timer = time + after.components.seconds * 1_000 + after.components.attoseconds / 1_000_000_000_000_000
                    }
                }
            }
            for _ in 0..<300 {
                time += Int64.random(in: 0...4_000, using: &generator)
                if let due = timer, due <= time {
                    timer = nil
                    handle(presence.timerFired(at: time))
                }
                let user = UserKey(Int64.random(in: 1...4, using: &generator))
                if Bool.random(using: &generator) {
                    connections[user, default: 0] += 1
                    handle(presence.connected(user))
                } else {
                    if connections[user, default: 0] == 1 { left[user] = time }
                    connections[user] = max(0, connections[user, default: 0] - 1)
                    handle(presence.disconnected(user, at: time))
                }
                for user in (1...4 as ClosedRange<Int64>).map({ UserKey($0) }) {
                    #expect(presence.isOnline(user) == shown.contains(user))
                    if connections[user, default: 0] > 0 { #expect(shown.contains(user)) }
                    // Timers are late by at most one step here.
                    if connections[user, default: 0] == 0, let since = left[user], time - since > PresenceMachine.grace + 4_000 {
                        #expect(!shown.contains(user), "seed \(seed)")
                    }
                }
            }
            while let due = timer {
                timer = nil
                time = max(time, due)
                handle(presence.timerFired(at: time))
            }
            #expect(shown == Set(connections.filter { $0.value > 0 }.keys))
        }
    }

    /// Every change is in exactly one later frame, and frames are a second apart.
    @Test func framesLoseNothing() {
        for seed in UInt64(1)...100 {
            var generator = SplitMix64(state: seed)
            var heads = CoalescedHeads()
            var time: Int64 = 0
            var timer: Int64?
            var lastFrame: Int64?
            var isHeld = false
            var changed: Set<ConversationKey> = []
            var newest: [ConversationKey: Int64] = [:]
            var reads: [MemberAddress: (n: Int64, received: Int64)] = [:]
            func handle(_ action: CoalescedHeads.Action) {
                switch action {
                case .doNothing: break
                case .schedule(let after):
                    #expect(timer == nil)
                    timer = time + Int64(after / .milliseconds(1))
                case .send(let frame):
                    #expect(!isHeld && lastFrame.map { time - $0 >= CoalescedHeads.interval } != false, "seed \(seed)")
                    lastFrame = time
                    #expect(frame.heads == changed.sorted())
                    let nudges = newest.filter { !changed.contains($0.key) }
                    #expect(frame.nudges.map(\.seq) == nudges.sorted { $0.key < $1.key }.map(\.value))
                    let expected = reads.map {
                        CoalescedHeads.Read(
                            conversation: $0.key.conversation, user: $0.key.user, n: $0.value.n, received: $0.value.received)
                    }
                    #expect(frame.reads == expected.sorted { ($0.conversation, $0.user) < ($1.conversation, $1.user) })
                    (changed, newest, reads) = ([], [:], [:])
                }
            }
            for _ in 0..<300 {
                time += Int64.random(in: 0...600, using: &generator)
                if let due = timer, due <= time {
                    timer = nil
                    handle(heads.timerFired(at: time))
                }
                let key = ConversationKey(Int64.random(in: 1...4, using: &generator))
                switch Int.random(in: 0..<8, using: &generator) {
                case 0, 1:
                    changed.insert(key)
                    handle(heads.headChanged(key, at: time))
                case 2, 3:
                    let seq = Int64.random(in: 1...50, using: &generator)
                    newest[key] = max(newest[key] ?? 0, seq)
                    handle(heads.advanced(HeadNudge(conversation: ConversationID(number: 1), seq: seq, n: 1, at: 0), in: key, at: time))
                case 4, 5:
                    let address = MemberAddress(key, UserKey(Int64.random(in: 1...3, using: &generator)))
                    let read = CoalescedHeads.Read(
                        conversation: key, user: address.user, n: Int64.random(in: 0...9, using: &generator),
                        received: Int64.random(in: 0...9, using: &generator))
                    let known = reads[address] ?? (0, 0)
                    reads[address] = (max(known.n, read.n), max(known.received, read.received))
                    handle(heads.readMoved(read, at: time))
                case 6:
                    isHeld = true
                    heads.hold()
                default:
                    isHeld = false
                    handle(heads.release(at: time))
                }
                let isEmpty = changed.isEmpty && newest.isEmpty && reads.isEmpty
                #expect(heads.isEmpty == isEmpty)
                // Nothing waits without a timer.
                #expect(isEmpty || isHeld || timer != nil, "seed \(seed)")
            }
        }
    }

    /// The end of a log is sent again once, 20 to 40 seconds after its last event.
    @Test func theEndOfALogIsReportedOnce() {
        for seed in UInt64(1)...60 {
            var generator = SplitMix64(state: seed)
            var digest = HeadDigest()
            var timer: Int64?
            var last: [ConversationKey: Int64] = [:]
            func schedule(_ action: HeadDigest.Action, at time: Int64) {
                guard case .schedule(let after) = action else { return }
                #expect(timer == nil)
                timer = time + Int64(after / .milliseconds(1))
            }
            func fire() {
                guard let due = timer else { return }
                timer = nil
                let (told, next) = digest.timerFired(at: due)
                for key in told {
                    let age = due - (last[key] ?? .max)
                    #expect((HeadDigest.interval...2 * HeadDigest.interval).contains(age), "seed \(seed)")
                    last[key] = nil
                }
                schedule(next, at: due)
            }
            var time: Int64 = 0
            for _ in 0..<200 {
                time += Int64.random(in: 0...9_000, using: &generator)
                while let due = timer, due <= time { fire() }
                let key = ConversationKey(Int64.random(in: 1...6, using: &generator))
                let isDeletion = Int.random(in: 0..<10, using: &generator) == 0
                last[key] = isDeletion ? nil : time
                let batch = DecidedBatch(
                    changes: Changes(), pushes: isDeletion ? [] : [.events(key, first: 1, last: 1)], hidden: [],
                    deleted: isDeletion ? [key] : [])
                schedule(digest.committed(batch, at: time), at: time)
                #expect(digest.isEmpty == last.isEmpty && (last.isEmpty || timer != nil))
            }
            while timer != nil { fire() }
            #expect(last.isEmpty && digest.isEmpty)
        }
    }

    /// A transport that writes some of the bytes. A stall means that as many bytes are unwritten,
    /// and a connection that continues to read is never reported as stalled.
    @Test func aStallMeansUnwrittenBytes() {
        var generator = SplitMix64(state: 71)
        var stalls = 0
        for _ in 0..<200 {
            var window = SendWindow()
            var sent = 0, written = 0
            var mark: Int?
            let speed = Int.random(in: 0...120_000, using: &generator)
            for _ in 0..<60 {
                let count = Int.random(in: 0...100_000, using: &generator)
                sent += count
                switch window.sent(count) {
                case .ask:
                    #expect(mark == nil)
                    mark = sent
                case .stall:
                    stalls += 1
                    #expect(sent - written >= SendWindow.stallBytes - 2 * 120_000, "most is unwritten")
                    #expect(mark.map { written < $0 } == true, "the transport has not answered")
                case .doNothing: break
                }
                written = min(sent, written + speed)
                if let asked = mark, written >= asked {
                    mark = nil
                    window.drained()
                }
            }
        }
        #expect(stalls > 10)
    }

    /// The positions are exact while the number of members is within the capacity.
    @Test func receivedPositionsAreTheHighest() {
        var generator = SplitMix64(state: 73)
        var positions = ReceivedPositions(capacity: 20, devicesOfMember: 3)
        var known: [MemberAddress: [DeviceKey: Int64]] = [:]
        for _ in 0..<4_000 {
            let member = MemberAddress(
                ConversationKey(Int64.random(in: 1...4, using: &generator)), UserKey(Int64.random(in: 1...5, using: &generator)))
            let device = DeviceKey(Int64.random(in: 1...3, using: &generator))
            let n = Int64.random(in: 1...1_000, using: &generator)
            let isFirst = n > known[member, default: [:]].values.max() ?? 0
            #expect(positions.received(n, by: member, on: device) == isFirst)
            known[member, default: [:]][device] = max(n, known[member]?[device] ?? 0)
            #expect(positions.last(of: member) == known[member]?.values.max())
            #expect(positions.last(of: member, on: device) == known[member]?[device])
        }
    }
}
