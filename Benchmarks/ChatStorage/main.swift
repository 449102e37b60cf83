import ApusChatProtocol
import ApusChatSQLite
import ApusChatStorage
import Foundation

// Measures the storages of the chat. `Benchmarks/ChatStorage/run` builds and starts it.

/// The time that a piece of work takes, in microseconds.
func microseconds<Value>(_ body: () throws -> Value) rethrows -> (Double, Value) {
    let start = DispatchTime.now().uptimeNanoseconds
    let value = try body()
    return (Double(DispatchTime.now().uptimeNanoseconds - start) / 1_000, value)
}

func percentile(_ values: [Double], _ share: Double) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
}

func text(_ value: Double, _ digits: Int = 1) -> String { String(format: "%.\(digits)f", value) }

/// One pair of users for each conversation; each user sends in turn.
func pair(_ index: Int) -> (ConversationKey, UserKey, UserKey) {
    (ConversationKey(Int64(index) * 7_919 + 5), UserKey(Int64(2 * index + 1)), UserKey(Int64(2 * index + 2)))
}

func addPairs(_ count: Int, to storage: any ChatStorage) throws {
    for first in stride(from: 0, to: count, by: 500) {
        var changes = Changes()
        for index in first..<min(count, first + 500) {
            let (key, low, high) = pair(index)
            let row = ConversationRow(
                key: key, kind: .pair, pair: PairAddress(low, high), createdAt: 1, settings: ConversationSettings())
            changes.conversations.append(ConversationChange(key: key, counters: row.counters, row: row, isNew: true))
            for user in [low, high] {
                changes.members.append(MemberRow(address: MemberAddress(key, user), role: .member, state: .joined))
            }
        }
        _ = try storage.begin(Needs())
        _ = try storage.commit(changes)
    }
}

/// Sends in batches, as the core decides them, and prints the time of `begin` and `commit`.
func sends(_ name: String, _ storage: any ChatStorage, pairs: Int, batches: Int, checkpoint: () throws -> Void) throws {
    try addPairs(pairs, to: storage)
    let body = #"{"text":"A message of the usual length, which is about one hundred characters with all of the text."}"#
    var times: [Double] = []
    var checkpoints: [Double] = []
    var sent = 0
    for batch in 0..<batches {
        var needs = Needs()
        var addresses: [SendAddress] = []
        for index in 0..<256 {
            let (key, low, high) = pair((sent + index) % pairs)
            let sender = (sent + index) / pairs % 2 == 0 ? low : high
            guard let id = ClientID(String(format: "0190f%07x-7%03x-7abc-8def-0123456789ab", sent + index, index)) else { continue }
            needs.conversations.append(key)
            needs.members.append(MemberAddress(key, sender))
            addresses.append(SendAddress(key, sender, id))
        }
        needs.sends = addresses
        let (beginTime, found) = try microseconds { try storage.begin(needs) }
        var facts = found
        var changes = Changes()
        for (index, address) in addresses.enumerated() {
            var counters = ConversationCounters()
            facts.conversations.modify(address.conversation) { row in
                row.counters.lastSeq += 1
                row.counters.lastN += 1
                row.counters.lastAt = Int64(batch)
                row.counters.previewSeq = row.counters.lastSeq
                counters = row.counters
            }
            facts.members.modify(MemberAddress(address.conversation, address.sender)) { row in
                row.skipped += 1
                row.lastSentAt = Int64(batch)
            }
            changes.events.append(
                EventRow(
                    conversation: address.conversation, seq: counters.lastSeq, n: counters.lastN, sender: address.sender,
                    clientID: address.id, hash: RequestHash(UInt64(sent + index), 1, 2, 3), at: Int64(batch), kind: .text, body: body))
        }
        changes.conversations = facts.conversations.changed.map { ConversationChange(key: $0.key, counters: $0.counters) }
        changes.members = facts.members.changed
        let (commitTime, _) = try microseconds { try storage.commit(changes) }
        times.append(beginTime + commitTime)
        let (checkpointTime, _) = try microseconds(checkpoint)
        if checkpointTime > 100 { checkpoints.append(checkpointTime) }
        sent += 256
    }
    let total = times.reduce(0, +)
    let withCheckpoints = total + checkpoints.reduce(0, +)
    print(
        "\(name): \(text(total / Double(sent), 2)) us an event, \(Int(Double(sent) / total * 1e6)) events/s;",
        "batch p50 \(text(percentile(times, 0.5) / 1_000, 2)) ms, p99 \(text(percentile(times, 0.99) / 1_000, 2)) ms;",
        "with \(checkpoints.count) checkpoints \(text(withCheckpoints / Double(sent), 2)) us an event,",
        "checkpoint p50 \(text(percentile(checkpoints, 0.5) / 1_000, 1)) ms")
}

func measure(_ name: String, times count: Int = 50, _ body: () throws -> Int) throws {
    var times: [Double] = []
    var size = 0
    for _ in 0..<count {
        let (time, found) = try microseconds(body)
        times.append(time)
        size = found
    }
    print("\(name): p50 \(text(percentile(times, 0.5) / 1_000, 2)) ms, p99 \(text(percentile(times, 0.99) / 1_000, 2)) ms (\(size) rows)")
}

/// A user of 5,000 conversations, 50 of them pinned.
func lists(_ storage: SQLiteStorage, _ reads: SQLiteReads) throws {
    let user = UserKey(1)
    for first in stride(from: 0, to: 5_000, by: 500) {
        var changes = Changes()
        for index in first..<first + 500 {
            let key = ConversationKey(Int64(index) * 7_919 % 100_003 + 1_000_000)
            var row = ConversationRow(key: key, kind: .group, createdAt: 1, settings: ConversationSettings())
            (row.counters.lastSeq, row.counters.lastN, row.counters.previewSeq) = (1, 1, 1)
            row.counters.lastAt = Int64(index * 31 % 5_003)
            changes.conversations.append(ConversationChange(key: key, counters: row.counters, row: row, isNew: true))
            var member = MemberRow(address: MemberAddress(key, user), role: .member, state: .joined)
            if index % 100 == 0 { member.pinnedAt = Int64(index + 1) }
            changes.members.append(member)
            changes.events.append(
                EventRow(conversation: key, seq: 1, n: 1, sender: UserKey(2), at: 1, kind: .text, body: #"{"text":"hello"}"#))
        }
        _ = try storage.begin(Needs())
        _ = try storage.commit(changes)
    }
    let position = try reads.position()
    var cursor: HeadsCursor?
    try measure("first page of heads, 80 of 5,000") {
        let page = try reads.heads(of: user, after: nil, limit: 80)
        cursor = page.next
        return page.heads.count
    }
    try measure("second page of heads, 200") { try reads.heads(of: user, after: cursor, limit: 200).heads.count }
    try measure("all heads, 5,000", times: 5) { try reads.heads(of: user, after: nil, limit: 10_000).heads.count }
    var changes = Changes()
    changes.members = [MemberRow(address: MemberAddress(ConversationKey(1_000_000), user), role: .admin, state: .joined)]
    _ = try storage.begin(Needs())
    _ = try storage.commit(changes)
    try measure("changes after a token, 1 of 5,000") {
        if case .page(let heads, _) = try reads.changes(of: user, after: position, cursor: nil, limit: 100) { heads.count } else { -1 }
    }
}

func search(_ storage: SQLiteStorage, _ reads: SQLiteReads) throws {
    let given = ["anna", "boris", "clara", "david", "elena", "farid", "greta", "hasan", "irina", "jonas", "王小明", "佐藤"]
    let family = ["meier", "schulze", "nowak", "rossi", "martin", "novak", "kowalski", "huber", "berg", "dubois", "silva"]
    for first in stride(from: 0, to: 200_000, by: 2_000) {
        var changes = Changes()
        for index in first..<first + 2_000 {
            let shown = given[index % given.count] + " " + family[index / 12 % family.count] + String(index / 132)
            changes.accounts.append(
                AccountRow(
                    key: UserKey(Int64(index + 1_000)), name: UserName(prepared: "user\(index)"), nickname: shown,
                    selfConversation: ConversationKey(1)))
        }
        _ = try storage.begin(Needs())
        _ = try storage.commit(changes)
    }
    for part in ["a", "an", "kowalski", "ski1", "小", "小明", "qz", "user199999", "greta berg12"] {
        try measure("search of 200,000 names for \(part)") {
            try reads.accounts(containing: part, after: nil, limit: 50).count
        }
    }
}

let folder = NSTemporaryDirectory() + "apus-chat-storage-" + UUID().uuidString
defer { try? FileManager.default.removeItem(atPath: folder) }
func open(_ name: String, syncs: Bool) throws -> (SQLiteStorage, SQLiteReads) {
    var environment = SQLiteEnvironment()
    environment.syncsCommits = syncs
    let place = try ChatFolder(folder + "/" + name)
    return (try SQLiteStorage(place, environment: environment), try SQLiteReads(place, environment: environment))
}
for pairs in [100, 10_000] {
    try sends("memory, \(pairs) pairs", MemoryStorage(), pairs: pairs, batches: 800) {}
    for syncs in [false, true] {
        let (storage, _) = try open("sends-\(pairs)-\(syncs)", syncs: syncs)
        try sends("sqlite, \(pairs) pairs, \(syncs ? "synced" : "not synced")", storage, pairs: pairs, batches: 800) {
            try storage.checkpointIfDue()
        }
    }
}
let (storage, reads) = try open("lists", syncs: false)
try lists(storage, reads)
try search(storage, reads)
