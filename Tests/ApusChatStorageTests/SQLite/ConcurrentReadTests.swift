import ApusChatProtocol
import ApusChatStorage
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatSQLite

/// Readers on other threads, while the writer commits batches, moves entries of the index of ids
/// and writes checkpoints.
@Suite struct ConcurrentReadTests {
    /// The data that a reader finds in one snapshot.
    private struct State: Equatable {
        var position: Int64?
        var ends: [Int64?]
        var seqs: [[Int64]]
        var found: [EventAddress]
    }

    private static let keys = [ConversationKey(1), ConversationKey(2)]
    private static let user = UserKey(1)

    private static func state(_ reads: SQLiteReads) throws -> State {
        try reads.inSnapshot {
            let expiring = try reads.expired(at: .max, limit: 2)
            return State(
                position: try Int64(reads.position().position),
                ends: try self.keys.map { try reads.head(of: self.user, in: $0)?.conversation.counters.lastSeq },
                seqs: try self.keys.map { try reads.events(in: $0, .through(.max), as: self.user, limit: 5).map(\.seq) }, found: expiring)
        }
    }

    private static func batch(_ seq: Int64) -> Changes {
        var changes = Changes()
        for key in self.keys {
            var row = ConversationRow(key: key, kind: .group, createdAt: 1, settings: ConversationSettings())
            (row.counters.lastSeq, row.counters.lastN, row.counters.previewSeq) = (seq, seq, seq)
            changes.conversations.append(
                ConversationChange(key: key, counters: row.counters, row: seq == 0 ? row : nil, isNew: seq == 0))
            if seq == 0 {
                changes.members.append(MemberRow(address: MemberAddress(key, self.user), role: .owner, state: .joined))
            } else {
                let body = #"{"text":"\#(String(repeating: "x", count: 300))"}"#
                changes.events.append(
                    EventRow(conversation: key, seq: seq, n: seq, sender: self.user, at: seq, kind: .text, body: body, expiresAt: seq))
                if seq > 1 { changes.blanks.append(EventBlank(address: EventAddress(key, seq - 1), state: .expired)) }
            }
        }
        return changes
    }

    /// Each snapshot is the state after a whole batch, and no state precedes one that was read
    /// before.
    @Test(arguments: [true, false]) func readersSeeWholeBatches(isSynced: Bool) async throws {
        let folder = try TemporaryFolder()
        var environment = SQLiteEnvironment()
        (environment.syncsCommits, environment.recentPlaces, environment.checkpointPages) = (isSynced, 7, 20)
        let lock = try ChatFolder(folder.path)
        let storage = try SQLiteStorage(lock, environment: environment)
        func commit(_ seq: Int64) throws {
            _ = try storage.begin(Needs())
            _ = try storage.commit(Self.batch(seq))
        }
        try commit(0)
        let isDone = NIOLockedValueBox(false)
        try await withThrowingTaskGroup(of: Int64?.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    let reads = try SQLiteReads(lock)
                    var last: Int64 = 0
                    var isLast = false
                    while !isLast {
                        isLast = isDone.withLockedValue { $0 }
                        let state = try Self.state(reads)
                        let seq = try #require(state.ends[0])
                        let seqs = Array(stride(from: max(1, seq - 4), through: seq, by: 1))
                        let expiring = seq == 0 ? [] : Self.keys.map { EventAddress($0, seq) }
                        #expect(state == State(position: seq + 1, ends: [seq, seq], seqs: [seqs, seqs], found: expiring))
                        #expect(seq >= last)
                        last = seq
                    }
                    return last
                }
            }
            for seq in 1...120 as ClosedRange<Int64> {
                try commit(seq)
                if seq % 10 == 0 { try storage.checkpointIfDue() }
            }
            isDone.withLockedValue { $0 = true }
            for try await last in group { #expect(last == 120, "the last batch is seen at the end") }
        }
        #expect(try storage.check().isEmpty)
    }
}
