import ApusChatProtocol
import ApusChatStorage
import ApusSeededRandom

/// Generates random changes of logs and members from a seed, as the decisions of a server produce
/// them: each row is changed at most once for each batch, and events continue their logs.
struct LogScript {
    static let words = ["apple", "birne", "苹果", "Kirsche", "plum", "näher"]
    /// The conversation that `PeopleScript` names as the self conversation of each account.
    static let own = ConversationKey(1)
    static let pair = PairAddress(UserKey(1), UserKey(2))

    let users = (1...6 as ClosedRange<Int64>).map { UserKey($0) }
    let conversations: [(key: ConversationKey, kind: ConversationKind)] = [
        (Self.own, .own), (ConversationKey(34), .pair), (ConversationKey(31), .group), (ConversationKey(.max), .group),
        (ConversationKey(33), .channel),
    ]
    private(set) var time: Int64 = 10_000
    private var counters: [ConversationKey: ConversationCounters] = [:]
    private var generator: SplitMix64

    init(seed: UInt64) { self.generator = SplitMix64(state: seed) }

    mutating func random(_ bound: Int) -> Int { Int.random(in: 0..<max(1, bound), using: &self.generator) }

    mutating func chance(_ one: Int) -> Bool { self.random(one) == 0 }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[self.random(values.count)] }

    func last(_ key: ConversationKey) -> Int64 { self.counters[key]?.lastSeq ?? 0 }

    // MARK: Needs

    /// The reads of a batch: all conversations and members, and the last events.
    ///
    /// - Parameter depth: The number of events of each conversation.
    func needs(depth: Int64 = 15) -> Needs {
        var needs = Needs()
        needs.conversations = self.conversations.map(\.key)
        needs.members = needs.conversations.flatMap { key in self.users.map { MemberAddress(key, $0) } }
        needs.pairs = [Self.pair, PairAddress(UserKey(5), UserKey(6))]
        needs.events = needs.conversations.flatMap { key in
            let last = self.last(key)
            return (max(1, last - depth)...max(1, last)).map { EventAddress(key, $0) }
        }
        needs.annotations = needs.events.flatMap { event in self.users.map { AnnotationAddress(event, $0) } }
        needs.requests = self.users.flatMap { user in Self.requestIDs.map { RequestAddress(user, $0) } }
        return needs
    }

    /// The reads of all rows, and of the values that are computed from them.
    var allNeeds: Needs {
        var needs = self.needs(depth: .max >> 1)
        needs.unseen = needs.events
        needs.successors = needs.conversations
        needs.skips = needs.members.flatMap { member in
            let last = self.counters[member.conversation]?.lastN ?? 0
            return [0, 1, 7, last].map { SkipNeed(member: member, above: max(0, last - $0)) }
        }
        needs.sends = needs.events.flatMap { event in
            self.users.compactMap { user in Self.sendID(event).map { SendAddress(event.conversation, user, $0) } }
        }
        return needs
    }

    private static let requestIDs = (1...3).compactMap { ClientID("r-\($0)") }

    private static func sendID(_ event: EventAddress) -> ClientID? { ClientID("m-\(event.seq)") }

    // MARK: Changes

    /// Adds changes to a batch.
    ///
    /// - Parameters:
    ///   - facts: The rows before the batch.
    ///   - blobs: The uploads to which events may refer.
    mutating func add(to changes: inout Changes, _ facts: Facts, blobs: [BlobID]) {
        guard !self.counters.isEmpty else { return self.start(&changes) }
        var keys = self.conversations.map(\.key).shuffled(using: &self.generator)
        keys.removeLast(self.random(keys.count))
        // The events of the conversations of a batch are mixed.
        for _ in 0..<self.random(3) + 1 {
            for key in keys { self.act(in: key, facts, blobs, &changes) }
        }
        for key in keys {
            if self.chance(40) { self.counters[key]?.isDeleted.toggle() }
            if self.chance(9) {
                let seq = self.chance(2) ? 0 : self.last(key)
                self.counters[key]?.callSeq = seq
            }
            if self.chance(9) { self.counters[key]?.membersVersion += 1 }
            guard let counters = self.counters[key] else { continue }
            var row: ConversationRow?
            if self.chance(6), var known = facts.conversations[key] {
                known.profile.title = self.pick(Self.words)
                known.profile.avatar = self.chance(2) ? nil : blobs.first
                (known.settings.listed, known.settings.slow) = (self.chance(2), Int64(self.random(9)))
                row = known
            }
            changes.conversations.append(ConversationChange(key: key, counters: counters, row: row))
        }
        if self.chance(8) {
            changes.folderRemovals.append(FolderRemoval(user: self.pick(self.users), folders: UInt64(self.random(8))))
        }
        if self.chance(3) { self.request(&changes) }
        if self.chance(5) {
            let event = EventAddress(self.pick(keys), 1)
            changes.reports.append(
                self.chance(2)
                    ? ReportRow(reporter: self.pick(self.users), conversation: event.conversation, reason: "spam", at: self.time)
                    : ReportRow(reporter: self.pick(self.users), subject: self.pick(self.users), event: event, reason: "x", at: self.time))
        }
    }

    private mutating func start(_ changes: inout Changes) {
        for (key, kind) in self.conversations {
            self.time += 1
            var row = ConversationRow(key: key, kind: kind, createdAt: self.time, settings: ConversationSettings())
            if kind == .pair { row.pair = Self.pair }
            self.counters[key] = row.counters
            changes.conversations.append(ConversationChange(key: key, counters: row.counters, row: row, isNew: true))
            let members = kind == .pair ? [Self.pair.low, Self.pair.high] : Array(self.users.prefix(4))
            changes.members += members.map { MemberRow(address: MemberAddress(key, $0), role: .member, state: .joined) }
        }
    }

    private mutating func request(_ changes: inout Changes) {
        let address = RequestAddress(self.pick(self.users), self.pick(Self.requestIDs))
        let answer = StoredAnswer(
            conversation: self.pick(self.conversations).key, seq: Int64(self.random(9)), n: Int64(self.random(9)), at: self.time,
            text: self.pick(["", "code"]))
        changes.requests.append(
            RequestRow(address: address, hash: RequestHash(1, 2, UInt64(self.time), .max), answer: answer, at: self.time))
    }

    private mutating func act(in key: ConversationKey, _ facts: Facts, _ blobs: [BlobID], _ changes: inout Changes) {
        let target = facts.events[EventAddress(key, max(1, self.last(key) - Int64(self.random(15))))]
        let isTaken = target.map { event in
            changes.targets.contains { $0.address == event.address } || changes.blanks.contains { $0.address == event.address }
        }
        switch self.random(12) {
        case 0...3: self.send(key, blobs, &changes)
        case 4, 5:
            guard let target, target.isMessage, !target.state.isBlank, isTaken == false else { return }
            self.change(target, &changes)
        case 6:
            guard var target, target.isMessage, isTaken == false else { return }
            let state = self.pick([EventState.recalled, .expired, .erased])
            self.append(key, by: target.sender, .recall, ref: target.seq, &changes)
            changes.blanks.append(EventBlank(address: target.address, state: state))
            guard self.chance(2) else { return }
            target.blank(state)
            changes.targets.append(target)
        case 7, 8:
            let new = changes.events.last { $0.conversation == key }
            guard let event = self.chance(3) ? new : target else { return }
            let address = AnnotationAddress(event.address, self.pick(self.users))
            guard !changes.annotations.contains(where: { $0.address == address }) else { return }
            var row = AnnotationRow(address: address, n: event.n)
            row.isHidden = self.chance(3)
            if self.chance(2) { row.reactions = ["+", "👍🏽"].shuffled(using: &self.generator) }
            if event.kind == .poll, self.chance(2) { row.votes = 1 << UInt64(self.random(3)) }
            changes.annotations.append(row)
        default:
            let address = MemberAddress(key, self.pick(self.users))
            guard !changes.members.contains(where: { $0.address == address }) else { return }
            var row = facts.members[address] ?? MemberRow(address: address, role: .member, state: .joined)
            for _ in 0...self.random(3) { self.change(&row) }
            changes.members.append(row)
        }
    }

    private mutating func send(_ key: ConversationKey, _ blobs: [BlobID], _ changes: inout Changes) {
        let kind = self.pick([EventKind.text, .text, .image, .poll, EventKind(rawValue: "x.game")])
        self.append(key, by: self.pick(self.users), kind, ref: self.chance(4) ? 1 : 0, &changes)
        let index = changes.events.count - 1
        if self.chance(2) {
            changes.events[index].clientID = Self.sendID(changes.events[index].address)
            changes.events[index].hash = RequestHash(UInt64(self.time), 1, 2, 3)
        }
        changes.events[index].mentionsAll = self.chance(8)
        if self.chance(3) { changes.events[index].mentions = Array(self.users.shuffled(using: &self.generator).prefix(self.random(3))) }
        if self.chance(3) { changes.events[index].thread = 1 }
        if self.chance(4) { changes.events[index].expiresAt = self.time + Int64(self.random(90)) }
        if self.chance(9) { changes.events[index].isPinned = true }
        if kind == .poll {
            changes.events[index].votes = [0, 0, 0]
            changes.events[index].closesAt = self.time + Int64(self.random(90))
            changes.events[index].hidesVoters = self.chance(2)
        }
        if !blobs.isEmpty, self.chance(3) {
            changes.blobReferences.append(BlobReference(event: changes.events[index].address, blob: self.pick(blobs)))
        }
    }

    private mutating func change(_ target: EventRow, _ changes: inout Changes) {
        var event = target
        switch self.random(5) {
        case 0, 1:
            self.append(event.conversation, by: event.sender, .edit, ref: event.seq, &changes)
            if event.original.isEmpty { event.original = event.body }
            event.body = self.body
            (event.state, event.editedAt, event.editSeq) = (.edited, self.time, self.last(event.conversation))
        case 2:
            self.append(event.conversation, by: event.sender, .preview, ref: event.seq, &changes)
        case 3:
            self.append(event.conversation, by: self.pick(self.users), .react, ref: event.seq, &changes)
            event.reactions = [ReactionCount(key: "+", count: Int64(self.random(9)) + 1)]
            if event.kind == .poll { (event.votes, event.isClosed) = ([Int64(self.random(9)), 0, 1], self.chance(3)) }
        default:
            event.isPinned.toggle()
            (event.replyCount, event.lastReply) = (Int64(self.random(9)), self.last(event.conversation))
        }
        changes.targets.append(event)
    }

    private mutating func change(_ row: inout MemberRow) {
        let key = row.address.conversation
        let (last, lastN) = (Int(self.last(key)), Int(self.counters[key]?.lastN ?? 0))
        switch self.random(12) {
        case 0: row.readN = Int64(self.random(lastN + 1))
        case 1: (row.pinnedAt, row.isArchived) = (Int64(self.random(3)), self.chance(2))
        case 2: row.isGone.toggle()
        case 3:
            row.state = self.pick([.joined, .joined, .joined, .left, .removed, .invited, .requested, .banned])
            (row.leftSeq, row.minSeq) = (row.state == .joined ? 0 : Int64(last), 1 + Int64(self.random(last / 2 + 1)))
        case 4: row.role = self.pick([.owner, .admin, .member, .reader, .guest])
        case 5: (row.bannedUntil, row.silencedUntil) = (Int64(self.random(3)), Int64(self.random(3)))
        case 6: (row.mutedUntil, row.notifiesMentionsOnly) = (Int64(self.random(9)), self.chance(2))
        case 7: row.folders = UInt64(self.random(8))
        case 8: row.draftSeq = Int64(self.random(Int(self.last(Self.own)) + 1))
        case 9: row.blockSeq = self.chance(2) ? 0 : Int64(self.random(last + 1))
        case 10: (row.floorN, row.since) = (Int64(self.random(lastN / 2 + 1)), self.time)
        default: (row.isMarkedUnread, row.lastSentAt, row.skipped) = (self.chance(2), self.time, Int64(self.random(2)))
        }
    }

    private var body: String {
        mutating get { #"{"text":"\#(self.pick(Self.words)) \#(self.pick(Self.words))","question":"?","options":["a","b","c"]}"# }
    }

    private mutating func append(_ key: ConversationKey, by user: UserKey, _ kind: EventKind, ref: Int64, _ changes: inout Changes) {
        var counters = self.counters[key] ?? ConversationCounters()
        self.time += 1
        counters.lastSeq += 1
        if kind.isMessage {
            counters.lastN += 1
            (counters.lastAt, counters.previewSeq) = (self.time, counters.lastSeq)
        }
        self.counters[key] = counters
        changes.events.append(
            EventRow(
                conversation: key, seq: counters.lastSeq, n: kind.isMessage ? counters.lastN : 0, sender: user, at: self.time, kind: kind,
                ref: ref, body: self.body))
    }
}
